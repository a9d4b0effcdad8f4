import type { ProcessPlan } from '@toolyard/sandbox'
import { createDemand, type Demand } from './demand.ts'

/** A process that waits for its call. */
export interface Ready<Process> {
  kind: 'ready'
  /** Memory and temporary files. */
  bytes: number
  /** Hands over the stdin of a call, whose process it is from then on; undefined when it can't serve that call. */
  serve (plan: ProcessPlan, stdin: string): Process | undefined
  /** Kills all of it. */
  end (): Promise<void>
}

/** Why a tool can't be kept ready. */
export interface Unfit {
  kind: 'unfit'
  reason: string
  /** Nothing that the tool did: another try may go well. */
  passing: boolean
}

export interface WarmTool<Process> {
  /** A number of processes, or as many as its calls of the last minutes took at once. */
  warm: number | 'auto'
  /** Changes with the parts of a process that is started now; undefined, or a rejection, when there can't be one. */
  fingerprint (): Promise<string | undefined>
  start (signal: AbortSignal): Promise<Ready<Process> | Unfit>
}

interface Waiting<Process> {
  process: Ready<Process>
  fingerprint: string
  since: number
}

/**
 * One tool. It is *fit* until a process of it has shown that it can't be kept ready; then its calls are served cold
 * until what it is made of changes, or for `maxIdleMs` when that was no doing of its own. A tool whose declaration
 * changes gets a new slot, so that what was started for the old one isn't kept.
 */
export interface Slot<Process> {
  tool: WarmTool<Process>
  digest: string
  waiting: Array<Waiting<Process>>
  demand: Demand
  bytes: number
  lastCall: number
  /** It is kept because it was called, and forgotten when it hasn't been for a while. */
  byUse: boolean
  unfit?: { reason: string, fingerprint: string | undefined, until: number, reported: boolean }
}

export function createSlot<Process> (tool: WarmTool<Process>, { digest, byUse }: Pick<Slot<Process>, 'digest' | 'byUse'>): Slot<Process> {
  return { tool, digest, waiting: [], demand: createDemand(), bytes: 0, lastCall: 0, byUse }
}
