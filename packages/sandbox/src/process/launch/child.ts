import type { Readable, Writable } from 'node:stream'
import type { Interruption } from '../plan/deadline.ts'
import type { CallGroup } from '../table/groups.ts'
import type { ProcessPlan } from '../plan/plan.ts'

/** How a process ended by itself. */
export type OwnEnding = { kind: 'exit', code: number } | { kind: 'signal', signal: NodeJS.Signals }
/** `abort`: the process that started it is gone, and its end isn't known. */
export type ChildEnding = OwnEnding | Extract<Interruption, { kind: 'abort' }>

/** A process that runs, the leader of a session of its own. */
export interface Child {
  pid: number
  /** Present when it was asked for: what is written here, the process reads. */
  stdin?: Writable
  /** Present when stdin is held: it ends with `stdin` once this was called. */
  letGo?: () => void
  /**
   * Present in a box that was made ahead: fills the file that is its stdin, then hands over the order (`orderOf`). Once.
   *
   * @throws ENOSPC and the like; nothing was begun then.
   */
  begin?: (order: Buffer, stdin: string) => void
  stdout: Readable
  stderr: Readable
  exited: Promise<ChildEnding>
  /** Fulfilled when it ended and both of its pipes did. */
  closed: Promise<true>
  /** Closes the pipes. To be called once, at the end. */
  release: () => void
}

/** An ending in the words of Node: a code, or the name of a signal. */
export function childEnding (code: number | null, signal: NodeJS.Signals | null): OwnEnding {
  return signal === null ? { kind: 'exit', code: code ?? 0 } : { kind: 'signal', signal }
}

export interface LaunchRequest {
  plan: ProcessPlan
  /** For its stdin, until EOF; undefined: what is written to the child's `stdin`. */
  stdin: string | undefined
  /** The box is made ahead: `stdin` isn't known yet, and the child has `begin`. */
  ahead?: true | undefined
  /** The helper keeps an open stdin from ending until `letGo`, also when this process dies. */
  hold?: true | undefined
  /** Paths of files that become 3, 4 and so on, opened for reading and writing. */
  files: readonly string[]
  /** Where the process and all that it starts are bounded together. */
  group?: CallGroup | undefined
  /** Once it is fulfilled, the start is given up: `launch` rejects, and the process is ended or never begun. */
  interrupted?: Promise<Interruption> | undefined
}

export interface Launcher {
  /** Rejects with an error whose `code` says why the process could not be started. */
  launch (request: LaunchRequest): Promise<Child>
  /** Makes it ready, so that the first start takes no longer than others. */
  prepare (): Promise<void>
  /** To be called when no process runs any more. */
  close (): Promise<void>
}

export function isLauncher (value: object): value is Launcher {
  return 'launch' in value && typeof value.launch === 'function'
}
