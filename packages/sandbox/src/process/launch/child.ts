import type { Readable, Writable } from 'node:stream'
import type { Interruption } from '../plan/deadline.ts'
import type { CallGroup } from '../table/groups.ts'
import type { Mark } from '../table/mark.ts'
import type { ProcessPlan } from '../plan/plan.ts'

/** How a started process ended by itself. `abort`: the process that started it is gone, and the end isn't known. */
export type ChildEnding = { kind: 'exit', code: number } | { kind: 'signal', signal: NodeJS.Signals } | Extract<Interruption, { kind: 'abort' }>

/** A process that runs, the leader of a session of its own. */
export interface Child {
  pid: number
  /** As in ProcessEntry; whoever has not reaped the process yet can read it for certain. */
  started: number | undefined
  /** Present when it was asked for: what is written here, the process reads. */
  stdin?: Writable
  /** Present when stdin is held: it ends with `stdin` once this was called. */
  letGo?: () => void
  stdout: Readable
  stderr: Readable
  exited: Promise<ChildEnding>
  /** Fulfilled when it ended and both of its pipes did. */
  closed: Promise<true>
  /** Closes the pipes. To be called once, at the end. */
  release: () => void
}

/** What to start. */
export interface LaunchRequest {
  plan: ProcessPlan
  /** What it reads from stdin, until EOF; undefined: what is written to the child's `stdin`. */
  stdin: string | undefined
  /** The helper keeps an open stdin from ending until `letGo`, also when this process dies. Without a helper it has no effect. */
  hold?: true | undefined
  /** Paths of files that become 3, 4 and so on, opened for reading and writing. */
  files: readonly string[]
  mark: Mark | undefined
  /** Where the process and all that it starts are bounded together. */
  group?: CallGroup | undefined
  /** Once it is fulfilled, the start is given up: `launch` rejects, and the process is ended or never begun. */
  interrupted?: Promise<Interruption> | undefined
}

/** Starts processes. */
export interface Launcher {
  /** Rejects with an error whose `code` says why the process could not be started. */
  launch (request: LaunchRequest): Promise<Child>
  /** Makes it ready, so that the first start takes no longer than others. */
  prepare (): Promise<void>
  /** To be called when no process runs any more. */
  close (): Promise<void>
}
