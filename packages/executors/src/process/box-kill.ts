import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { BoxStatus } from './box.ts'
import { killTree } from './kill-tree.ts'
import { readProcess, readProcessTable } from './process-table.ts'
import { signalProcess } from './signal.ts'
import type { TreeRoot } from './tree.ts'

const pauseMs = 1
const patienceMs = 5_000

/**
 * Asks what runs in a box to end: SIGTERM to the processes of the call's first group. The two that make up the box, the
 * one outside and the first one inside, get none: their end would be the end of all at once.
 */
export function askBox (root: TreeRoot, status: BoxStatus): void {
  const { init } = status.read()
  for (const { pid, group } of readProcessTable().values()) {
    if (group === root.pid && pid !== root.pid && pid !== init) signalProcess(pid, 'SIGTERM')
  }
}

/** Begins what `killBox` does, without waiting for it. */
export function strikeBox (root: TreeRoot, status: BoxStatus): void {
  const { init } = status.read()
  if (init !== undefined && isInBox(init, root)) signalProcess(init, 'SIGKILL')
}

/**
 * Kills everything in a box and returns when nothing is left (promise 3), with the pid of the first process in it when
 * that outlived the patience of 5 s. The kernel kills a pid namespace with its first process, however its processes
 * have forked and whatever sessions they made, and lets the first one go only when they are gone.
 */
export async function killBox (root: TreeRoot, status: BoxStatus): Promise<number[]> {
  const { init } = status.read()
  // The box was still being built, or could not be.
  if (init === undefined) return await killTree(root, [])
  const until = performance.now() + patienceMs
  while (isInBox(init, root)) {
    if (performance.now() > until) return [init]
    signalProcess(init, 'SIGKILL')
    await sleep(pauseMs)
  }
  return []
}

/** A process with that number that isn't in the call's session is another one. */
function isInBox (pid: number, root: TreeRoot): boolean {
  // Mostly it is gone by now, which an exception would tell at many times the price.
  const entry = existsSync(`/proc/${pid}`) ? readProcess(pid) : undefined
  return entry !== undefined && !entry.zombie && entry.session === root.pid
}
