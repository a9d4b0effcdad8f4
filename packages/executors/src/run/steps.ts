import type { CallError, OutputCut } from '@toolyard/contract'

export interface StepTarget {
  /** Name of a tool, or its job type: one of the two. */
  tool?: string
  type?: string
  /** Absent: the queue of the workflow's own job. */
  queue?: string
}

/** It has been found that the step may run it. */
export interface ResolvedTarget {
  tool: string
  type: string
  queue: string
}

export type StepState =
  | { state: 'pending', jobId: string }
  | { state: 'failed', jobId: string, error: CallError }
  /** Both outputs are JSON texts, since parsing takes its time: what is kept of it, and as an answer carries it. */
  | { state: 'succeeded', jobId: string, output: () => Promise<KeptOutput>, shownOutput: () => Promise<string> }

interface KeptOutput {
  json: string
  /** Of an output that was not kept as a whole. */
  cut?: OutputCut
}

/** The steps of a workflow at one moment; `settled` counts those that have ended, over all attempts of the job. */
export interface StepProgress {
  byName: ReadonlyMap<string, StepState>
  settled: number
}

/** As for a job that is submitted; absent: as the tool and the workflow's job have it. */
export interface StepWishes {
  /** 0..10, higher first. */
  priority?: number
  /** Whole seconds. */
  timeoutSec?: number
  maxAttempts?: number
  tags?: string[]
}

export interface StepStart extends ResolvedTarget {
  wishes: StepWishes
  name: string
  arguments: Record<string, unknown>
  /** The rest of the workflow's time, in milliseconds. */
  timeoutMs: number
}

/** A time in which a step waited for a person, by the clock of `WorkflowSteps.now`. */
export interface PersonWait {
  from: number
  /** Absent: it still waits, until `ends` at the latest. */
  to?: number
  ends: number
}

/** How the run of a workflow makes and follows jobs: given by the worker, for one attempt of one job. */
export interface WorkflowSteps {
  /** The time that all workers share, in milliseconds since 1970: another machine may go on with the workflow. */
  now (): number
  /** Keeps a text with the attempt, once: a later run of it gets the first one. */
  keep (make: () => Promise<string>): Promise<string>
  /** Finds what a step runs, or why it may not: the tool, its type, its permissions and the queue are looked at. */
  resolve (target: StepTarget): ResolvedTarget | CallError
  progress (names: readonly string[]): Promise<StepProgress>
  /** When its steps waited for people, in which its own time stands still. */
  personWaits (): Promise<readonly PersonWait[]>
  /** Starts a step, however often it is called, once; returns why it can't be started, else its job's id. */
  start (step: StepStart): Promise<string | CallError>
  cancel (): Promise<void>
}

/**
 * How a workflow waits for its steps: until one of them settles, or until a time by
 * the clock that all workers share, in milliseconds since 1970.
 */
export interface StepWait {
  until: number
  /** How many steps had settled when it was decided to wait. */
  settled: number
}

/** Thrown by a built-in tool that goes on when jobs that it has made have ended. */
export class BuiltinWait extends Error {
  override readonly name = 'BuiltinWait'
  readonly wait: StepWait

  constructor (wait: StepWait) {
    super('waits for its steps')
    this.wait = wait
  }
}
