import type { Redis } from '../redis/connection.ts'
import { subscribe } from '../redis/subscription.ts'
import { whileAvailable } from '../redis/unavailable.ts'

interface SharedHashOptions {
  commands: Redis
  subscriber: Redis
  key: string
  /** Where all processes hear that the hash has changed. */
  channel: string
}

/** A message can be lost, so the hash is read so often anyway: a change is seen within a second. */
const readMs = 500

/** One small Redis hash for all processes, and a copy in each. While Redis is away, the last copy is used. */
export abstract class SharedHash {
  protected readonly commands: Redis
  readonly #options: SharedHashOptions
  #seen = textOf({})
  #timer: NodeJS.Timeout | undefined
  #stopped = false

  constructor (options: SharedHashOptions) {
    this.commands = options.commands
    this.#options = options
  }

  /** Reads the hash and follows it from now on; resolves after the first attempt to read it. */
  async start (): Promise<void> {
    void subscribe(this.#options.subscriber, this.#options.channel, () => { void this.#read() }).catch(() => {})
    await this.#follow()
  }

  stop (): void {
    this.#stopped = true
    clearTimeout(this.#timer)
  }

  /**
   * Tells all processes of a change; this one knows it when the promise is fulfilled.
   *
   * @throws RedisUnavailableError
   */
  protected async announce (): Promise<void> {
    await whileAvailable(this.commands.publish(this.#options.channel, ''))
    await this.#load()
  }

  /** Called after the copy has changed. */
  protected abstract changed (values: Readonly<Record<string, string>>): void

  async #follow (): Promise<void> {
    await this.#read()
    if (!this.#stopped) this.#timer = setTimeout(() => { void this.#follow() }, readMs)
  }

  async #read (): Promise<void> {
    // The connection reports its own errors, and the hash is read again soon. A connection that is away would keep the command.
    if (this.commands.status === 'ready') await this.#load().catch(() => {})
  }

  async #load (): Promise<void> {
    const values = await whileAvailable(this.commands.hgetall(this.#options.key))
    const seen = textOf(values)
    if (seen === this.#seen) return
    this.#seen = seen
    this.changed(values)
  }
}

/** Redis keeps no order that could be relied on. */
function textOf (values: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(values).sort(([a], [b]) => a < b ? -1 : 1))
}
