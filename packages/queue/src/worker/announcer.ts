import { asError } from '@toolyard/contract/terms'
import type { Redis } from '@toolyard/store'

/** ARGV: channel and message in turn. */
const publishScript = `
for i = 1, #ARGV, 2 do redis.call('PUBLISH', ARGV[i], ARGV[i + 1]) end
`

/**
 * Publishes messages, those of one turn of the event loop with one command: jobs begin and end in bunches, and each
 * command costs this process more than all of the messages cost Redis.
 */
export class Announcer {
  readonly #redis: Redis
  readonly #onError: (error: Error) => void
  #messages: string[] = []
  #flush: NodeJS.Immediate | undefined

  /** @param onError gets the errors of messages that were lost. */
  constructor (redis: Redis, onError: (error: Error) => void) {
    this.#redis = redis
    this.#onError = onError
  }

  publish (channel: string, message: string): void {
    this.#messages.push(channel, message)
    this.#flush ??= setImmediate(() => { void this.flush() })
  }

  /** Resolves when everything so far is sent, or was reported as lost. */
  async flush (): Promise<void> {
    clearImmediate(this.#flush)
    this.#flush = undefined
    const messages = this.#messages
    if (messages.length === 0) return
    this.#messages = []
    try {
      await this.#redis.eval(publishScript, 0, ...messages)
    } catch (error) {
      this.#onError(asError(error))
    }
  }
}
