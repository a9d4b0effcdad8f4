import { setTimeout as sleep } from 'node:timers/promises'
import { readPlaces, signalGroup, signalProcess, type ProcessPlace } from './process-table.ts'

/*
 * The processes that make up a box are one group: the one outside, which leads it, and the first one inside, which no
 * tool can move. The kernel kills a pid namespace with its first process, however its processes have forked and whatever
 * sessions they made, and lets the first one go only when they are gone.
 */
const pauseMs = 1
/** How long a box may take to end before its processes are looked for: a dead one may wait for a parent that doesn't reap. */
const promptMs = 20
const patienceMs = 5_000

/**
 * Asks what runs in a box, named by the pid of its leader, to end: SIGTERM to the processes of the call's first group. The two
 * that make up the box get none: their end would be the end of all at once.
 */
export async function askBox (box: number): Promise<void> {
  for await (const { pid, parent } of membersOf(box)) {
    if (pid !== box && parent !== box) signalProcess(pid, 'SIGTERM')
  }
}

/** Begins what `killBox` does, without waiting for it. */
export function strikeBox (box: number): void {
  signalGroup(box, 'SIGKILL')
}

/**
 * Kills everything in a box, one that is still being built as well, and returns when nothing is left (promise 3), with
 * the pids of those of its group that outlived the patience of 5 s.
 */
export async function killBox (box: number): Promise<number[]> {
  const begun = performance.now()
  while (signalGroup(box, 'SIGKILL')) {
    const looked = performance.now()
    if (looked - begun >= promptMs) {
      const living: number[] = []
      for await (const { pid } of membersOf(box)) living.push(pid)
      if (living.length === 0) return []
      if (looked - begun > patienceMs) return living
    }
    // Half of the time at most is spent with looking.
    await sleep(Math.max(pauseMs, performance.now() - looked))
  }
  return []
}

async function * membersOf (box: number): AsyncGenerator<ProcessPlace> {
  for await (const entry of readPlaces()) {
    if (entry.group === box && !entry.zombie) yield entry
  }
}
