import { setTimeout as sleep } from 'node:timers/promises'
import { childrenOf, familyOf, namespacePids, readProcess, signalGroup, signalProcess, beforeGraceEnds } from '@toolyard/sandbox'
import type { ForkEnding, ProcessTree } from './process-tree.ts'

/** An inner box, which is the parent of those that its process forks. */
export interface InnerBoxTree extends ProcessTree, InnerBoxParent {
  /**
   * Only of a call's inner box: the pid of its init, as the host knows it, once the inner box is complete; undefined when it is gone. A
   * second call answers sooner.
   */
  initInHost (): Promise<number | undefined>
}

/** A process in a box that forks others, each in an inner box of its own. */
export interface InnerBoxParent {
  /** Its pid, as seen from here; undefined when it is gone. */
  find (): number | undefined
  /** Ends it, and all inner boxes that it made. */
  kill (): Promise<number[]>
}

const pauseMs = 20
/** How long the first process of an inner box takes to be born, about; in milliseconds. */
const birthMs = 1
const patienceMs = 5_000
/** How often processes are looked for that were forked while others were moved. */
const movePasses = 10
/** Pids in an inner box: its init, and the one process that this forks. */
const initPid = 1
const firstPid = 2
/** A template, and a call in it. */
const levelsBelowHost = 2

/**
 * The processes of an inner box: a pid namespace that ends with its first process, however the others have forked and whatever
 * sessions they made.
 *
 * @param pid of that process, as its parent sees it
 * @param ended how it ended, from the parent; the kernel tells that only when the whole inner box is gone
 */
export function innerBoxTree (parent: InnerBoxParent, pid: number, ended: Promise<ForkEnding>): InnerBoxTree {
  const seen: { ending?: ForkEnding } = {}
  /** The init of an inner box that was found whole, with its start: its pid may become another process's. */
  let whole: { init: number, started: number } | undefined
  void ended.then(ending => { seen.ending = ending })

  function findInit (): number | undefined {
    const parentPid = parent.find()
    return parentPid === undefined ? undefined : childOf(parentPid, pids => pids.at(-1) === initPid && pids.at(-2) === pid)
  }

  function find (): number | undefined {
    const init = findInit()
    return init === undefined ? undefined : firstOf(init)
  }

  /**
   * The init once its first process is born, which is when the inner box has all of its mounts. Before that, what is mounted in
   * it may come to be in its template, for all of its calls.
   */
  function findWhole (): number | undefined {
    if (whole !== undefined && readProcess(whole.init)?.started === whole.started) return whole.init
    const init = findInit()
    const started = init === undefined ? undefined : readProcess(init)?.started
    if (init === undefined || started === undefined || firstOf(init) === undefined) return undefined
    whole = { init, started }
    return init
  }

  async function kill (): Promise<number[]> {
    const until = performance.now() + patienceMs
    while (seen.ending === undefined) {
      const init = findInit()
      // A dead one waits for its parent, which may have been stopped: the inner box is empty all the same.
      if (init !== undefined && readProcess(init)?.zombie === true) return []
      if (performance.now() > until) return init === undefined ? await parent.kill() : [init]
      if (init !== undefined) signalProcess(init, 'SIGKILL')
      await Promise.race([ended, sleep(pauseMs)])
    }
    // Nobody saw it end: its parent is gone, or no longer heard, and takes it along.
    return seen.ending.kind === 'lost' ? await parent.kill() : []
  }

  return {
    first: findInit,
    find,
    async born () {
      while (seen.ending === undefined) {
        const pid = find()
        if (pid !== undefined) return pid
        await Promise.race([ended, sleep(birthMs)])
      }
      return undefined
    },
    kill,
    async terminate (exited) {
      const first = find()
      if (first !== undefined) signalGroup(first, 'SIGTERM')
      await beforeGraceEnds(exited)
      return await kill()
    },
    async enter (move) {
      const init = findInit()
      if (init === undefined) return
      const moved = new Set<number>()
      let found = [init]
      // Looked for behind the move of their parents: those that there aren't yet will be born there.
      for (let pass = 0; found.length > 0 && pass < movePasses; pass++) {
        for (const pid of found) await move(pid)
        for (const pid of found) moved.add(pid)
        found = familyOf(init).pids.filter(pid => !moved.has(pid))
      }
    },
    async initInHost () {
      while (seen.ending === undefined) {
        const init = findWhole()
        if (init !== undefined) return namespacePids(init).at(-1 - levelsBelowHost)
        await Promise.race([ended, sleep(birthMs)])
      }
      return undefined
    },
    mayOutlive: () => false
  }
}

function firstOf (init: number): number | undefined {
  return childOf(init, pids => pids.at(-1) === firstPid)
}

/** @param matches gets a child's pids in all namespaces, from the outermost that is visible to its own */
function childOf (parent: number, matches: (pids: number[]) => boolean): number | undefined {
  return childrenOf(parent).find(child => matches(namespacePids(child)))
}
