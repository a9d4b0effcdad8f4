import type { MinimalJob } from 'bullmq'
import type { ScriptCall } from '@toolyard/store'

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

/** What became of an end. */
export interface Ended {
  /** The next job; empty where none was asked for, or there is none. */
  next: unknown[]
  dependents: 0 | 1 | undefined
}
