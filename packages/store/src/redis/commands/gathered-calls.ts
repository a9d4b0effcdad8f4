import type { ScriptCall } from './batched-script.ts'

interface Waiting {
  calls: readonly ScriptCall[]
  resolve: (replies: unknown[]) => void
  reject: (error: unknown) => void
}

/**
 * Makes all calls of a script that come within one turn of the event loop with one command, whoever they are for: most of
 * what a short command costs both sides isn't its work.
 */
export class GatheredCalls {
  readonly #run: (calls: readonly ScriptCall[]) => Promise<unknown[]>
  #waiting: Waiting[] = []

  /** @param run one reply for each call, as of `BatchedScript` */
  constructor (run: (calls: readonly ScriptCall[]) => Promise<unknown[]>) {
    this.#run = run
  }

  /**
   * The reply to each call, an Error where there is none.
   *
   * @throws what the command as a whole failed with
   */
  async replies (calls: readonly ScriptCall[]): Promise<unknown[]> {
    return await new Promise((resolve, reject) => {
      this.#waiting.push({ calls, resolve, reject })
      if (this.#waiting.length === 1) setImmediate(() => { void this.#send() })
    })
  }

  async #send (): Promise<void> {
    const sent = this.#waiting
    this.#waiting = []
    try {
      const replies = await this.#run(sent.flatMap(({ calls }) => calls))
      let at = 0
      for (const { calls, resolve } of sent) resolve(replies.slice(at, at += calls.length))
    } catch (error) {
      for (const { reject } of sent) reject(error)
    }
  }
}
