import { within } from '@toolyard/runtime'
import { askBox, killBox } from '../table/box-kill.ts'
import { killTree, livingTree } from '../table/kill-tree.ts'
import { signalGroup } from '../table/signal.ts'
import type { TreeRoot } from '../table/tree.ts'

const graceMs = 250

/**
 * Ends a call's processes: SIGTERM to the group, 250 ms for the first process to leave, then SIGKILL to everything
 * that is left (promise 3). Returns when all are gone, with the pids of those that can't be killed.
 */
export async function terminateTree (root: TreeRoot, exited: Promise<unknown>): Promise<number[]> {
  // Which process descends from which is only known while the parents live.
  const known = await livingTree(root, [])
  signalGroup(root.pid, 'SIGTERM')
  await beforeGraceEnds(exited)
  return await killTree(root, known)
}

/** The same for processes in a box. */
export async function terminateBox (root: TreeRoot, exited: Promise<unknown>): Promise<number[]> {
  await askBox(root)
  await beforeGraceEnds(exited)
  return await killBox(root)
}

/** Waits for an exit, 250 ms at most. */
export async function beforeGraceEnds (exited: Promise<unknown>): Promise<void> {
  await within(graceMs, exited)
}
