import { type ScriptCall, type Redis, fromRedis } from '@toolyard/store'
import type { EndReply } from './job-backend.ts'
import { finishPlainScript } from './scripts/plain-scripts.ts'

interface Ending {
  call: ScriptCall
  resolve: (reply: EndReply | undefined) => void
  reject: (error: unknown) => void
}

/** Settles the plain jobs that end in one turn of the event loop with one command. */
export class JobSettler {
  readonly #redis: Redis
  readonly #shared: () => ScriptCall
  #ending: Ending[] = []

  /** @param shared what the script gets in all calls */
  constructor (redis: Redis, shared: () => ScriptCall) {
    this.#redis = redis
    this.#shared = shared
  }

  /**
   * @returns undefined for a job that is not plain: BullMQ's script settles it.
   * @throws what the connection says
   */
  async settle (call: ScriptCall): Promise<EndReply | undefined> {
    return await new Promise<EndReply | undefined>((resolve, reject) => {
      this.#ending.push({ call, resolve, reject })
      if (this.#ending.length === 1) process.nextTick(() => { void this.#settleAll() })
    })
  }

  async #settleAll (): Promise<void> {
    const ending = this.#ending
    this.#ending = []
    try {
      const replies = await finishPlainScript.run(this.#redis, ending.map(({ call }) => call), this.#shared())
      for (const [place, { resolve }] of ending.entries()) resolve(Array.isArray(replies[place]) ? fromRedis(replies[place]) : undefined)
    } catch (error) {
      for (const { reject } of ending) reject(error)
    }
  }
}
