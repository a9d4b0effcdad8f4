import type { ScriptCall } from '../redis/batched-script.ts'
import type { Redis } from '../redis/connection.ts'
import { finishScript } from './job-scripts.ts'
import { finishPlainScript } from './plain-scripts.ts'

/** How a job ends. */
export interface Ending {
  /** For the script of plain jobs; undefined for a job that is none. */
  plain: ScriptCall | undefined
  /** For BullMQ's script. */
  general: () => ScriptCall
  /** Takes the next job in a command of its own. */
  takeNext: () => Promise<unknown[]>
}

/** What BullMQ makes of the end of a job: the next job, or a number; and 1 where other jobs depend on it, 0 where none does. */
export type Ended = [reply: unknown, dependents: 0 | 1 | undefined]

/** The next job could not be taken along. */
const askBullmq = 1

interface Waiting extends Ending {
  resolve: (ended: Ended) => void
  reject: (error: unknown) => void
}

/** Settles the jobs that end in one turn of the event loop with one command. */
export class JobSettler {
  readonly #redis: Redis
  readonly #shared: () => ScriptCall
  #ending: Waiting[] = []

  /** @param shared what the script of plain jobs gets in all calls. */
  constructor (redis: Redis, shared: () => ScriptCall) {
    this.#redis = redis
    this.#shared = shared
  }

  /** @throws what Redis says to the job, or the connection to all of them. */
  async settle (ending: Ending): Promise<Ended> {
    return await new Promise<Ended>((resolve, reject) => {
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
      else if (reply[0] !== askBullmq) one.resolve(reply as Ended)
      else void this.#resolve(one, reply[1] as Ended[1])
    }
    return left
  }

  /** A job has ended, whatever becomes of the next: another place of the worker takes it. */
  async #resolve ({ takeNext, resolve }: Waiting, dependents: Ended[1]): Promise<void> {
    resolve([await takeNext().catch(() => 0), dependents])
  }

  async #settleGeneral (ending: readonly Waiting[]): Promise<void> {
    if (ending.length === 0) return
    const replies = await finishScript.run(this.#redis, ending.map(({ general }) => general()))
    for (const [place, { resolve, reject }] of ending.entries()) {
      const reply = replies[place]
      if (Array.isArray(reply)) resolve(reply as Ended)
      else reject(reply)
    }
  }
}
