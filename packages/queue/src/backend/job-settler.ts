import type { ScriptCall } from '../redis/batched-script.ts'
import type { Redis } from '../redis/connection.ts'
import type { EndReply } from './job-backend.ts'
import type { WrappedScript } from './job-scripts.ts'
import { finishPlainScript } from './plain-scripts.ts'

/** How a job ends. */
export interface Ending {
  /** For the script of plain jobs; undefined for a job that is none. */
  plain: ScriptCall | undefined
  /** For BullMQ's script. */
  general: () => ScriptCall
}

interface Waiting extends Ending {
  resolve: (ended: EndReply) => void
  reject: (error: unknown) => void
}

/** Settles the jobs that end in one turn of the event loop with one command. */
export class JobSettler {
  readonly #redis: Redis
  readonly #general: WrappedScript
  readonly #shared: () => ScriptCall
  #ending: Waiting[] = []

  /**
   * @param general BullMQ's script
   * @param shared what the script of plain jobs gets in all calls
   */
  constructor (redis: Redis, general: WrappedScript, shared: () => ScriptCall) {
    this.#redis = redis
    this.#general = general
    this.#shared = shared
  }

  /** @throws what Redis says to the job, or the connection to all of them. */
  async settle (ending: Ending): Promise<EndReply> {
    return await new Promise<EndReply>((resolve, reject) => {
      this.#ending.push({ ...ending, resolve, reject })
      if (this.#ending.length === 1) process.nextTick(() => { this.#settleAll() })
    })
  }

  #settleAll (): void {
    const ending = this.#ending
    this.#ending = []
    const settle = async (): Promise<void> => { await this.#settleGeneral(await this.#settlePlain(ending)) }
    settle().catch((error: unknown) => { for (const { reject } of ending) reject(error) })
  }

  /** Settles the plain jobs; those that aren't are left. */
  async #settlePlain (ending: readonly Waiting[]): Promise<Waiting[]> {
    const left: Waiting[] = []
    const calls: ScriptCall[] = []
    const called: Waiting[] = []
    for (const one of ending) {
      if (one.plain === undefined) {
        left.push(one)
        continue
      }
      calls.push(one.plain)
      called.push(one)
    }
    if (calls.length === 0) return left
    const replies = await finishPlainScript.run(this.#redis, calls, this.#shared())
    for (const [place, one] of called.entries()) {
      const reply = replies[place]
      if (!Array.isArray(reply)) left.push(one)
      else one.resolve(reply as EndReply)
    }
    return left
  }

  async #settleGeneral (ending: readonly Waiting[]): Promise<void> {
    if (ending.length === 0) return
    const replies = await this.#general.script.run(this.#redis, ending.map(({ general }) => general()))
    for (const [place, { resolve, reject }] of ending.entries()) {
      const reply = replies[place]
      if (Array.isArray(reply)) resolve(reply as EndReply)
      else reject(reply)
    }
  }
}
