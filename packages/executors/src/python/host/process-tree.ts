import { killTree, signalGroup, mayHaveSurvivors, terminateTree, type TreeRoot } from '@toolyard/sandbox'

/**
 * How a forked process ended. `unboxed`: it didn't begin, because its nest could not be made. `lost`: it isn't known,
 * because the process that forked it is gone.
 */
export type ForkEnding = { kind: 'exit', code: number } | { kind: 'signal', signal: NodeJS.Signals } | { kind: 'unboxed', cause: string } | { kind: 'lost' }

/** A forked process and everything that descends from it. */
export interface ProcessTree {
  /** The process that all of it descends from; undefined when it is gone. */
  first (): number | undefined
  /** SIGTERM, 250 ms for the first process to leave, then `kill`. */
  terminate (ended: Promise<unknown>): Promise<number[]>
  /** Fulfilled when nothing is left (promise 3), with the pids of processes that can't be killed. */
  kill (): Promise<number[]>
  /** Whether something may be left when the first process, which ran for `ms`, has ended. */
  mayOutlive (ms: number): Promise<boolean>
  /** Moves all processes that exist before the first message. Those that are forked later are born where their parent is. */
  enter (move: (pid: number) => Promise<void>): Promise<void>
  /**
   * Only of a call's nest: the pid of its init, as the host knows it, once the nest is complete; undefined when it is gone. A
   * second call answers sooner.
   */
  initInHost?: () => Promise<number | undefined>
}

/** The tree of a process in the open: what descends from it is looked for. */
export function openTree (root: TreeRoot): ProcessTree {
  return {
    first: () => root.pid,
    terminate: ended => terminateTree(root, ended),
    kill: () => killTree(root, []),
    enter: async move => { await move(root.pid) },
    mayOutlive: async ms => signalGroup(root.pid, 0) || await mayHaveSurvivors(root, ms)
  }
}
