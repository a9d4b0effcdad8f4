import type { Connections } from '../wire/connections.ts'

/**
 * How a process of a call ended. `unboxed`: it didn't begin, because its inner box could not be made. `lost`: it isn't known,
 * because the process that forked it is gone.
 */
export type ForkEnding = { kind: 'exit', code: number } | { kind: 'signal', signal: NodeJS.Signals } | { kind: 'unboxed', cause: string } | { kind: 'lost' }

/** The process of a call, connected; it waits for its first message. */
export interface CallProcess extends Connections {
  tree: ProcessTree
  /** Fulfilled when it ended and was reaped. */
  ended: Promise<ForkEnding>
  /** To be called when all its processes are gone. */
  release: () => void
}

export interface ProcessTree {
  /** The process that all of it descends from; undefined when it is gone. */
  first (): number | undefined
  /** The process that runs the tool, once it is there; undefined when it is gone. */
  born (): Promise<number | undefined>
  /** SIGTERM, 250 ms for the first process to leave, then `kill`. */
  terminate (ended: Promise<unknown>): Promise<number[]>
  /** Fulfilled when nothing is left (promise 3), with the pids of processes that can't be killed. */
  kill (): Promise<number[]>
  /** Whether something may be left when the first process has ended. */
  mayOutlive (): boolean
  /** Moves all processes that there are. Those that are forked later are born where their parent is. */
  enter (move: (pid: number) => Promise<void>): Promise<void>
}
