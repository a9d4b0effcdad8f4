import type { MinimalJob } from 'bullmq'
import { type ScriptCall, type Redis, fromRedis } from '@toolyard/store'
import { finishPlainScript } from './scripts/plain-scripts.ts'

/** How a job ends: its return value, or the reason and the stack of its failure. */
export interface End {
  job: MinimalJob
  token: string
  sign: '+' | '-'
  text: string
  stack: string
  fetchNext: boolean
  /** By Redis' clock. */
  at: number
  /** The API process that waits for it, or nothing. */
  awaited: string
  /** How often the job has run, if its beginning was not noted before; else nothing. */
  runs: number | ''
  /** For BullMQ's script. */
  call: () => ScriptCall
}

/**
 * What a script answers to an end: what BullMQ's would, a number or the next job; and
 * 1 where other jobs depend on this one, 0 where none does.
 */
export type EndReply = [reply: unknown, dependents: 0 | 1 | undefined]

export interface Ended {
  /** The next job; empty where none was asked for, or there is none. */
  next: unknown[]
  dependents: 0 | 1 | undefined
}

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
