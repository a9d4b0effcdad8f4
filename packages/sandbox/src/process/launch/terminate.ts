import { within } from '@toolyard/runtime'
import { askBox, killBox } from '../table/box-kill.ts'
import type { Started } from './start.ts'
import { findDescendants, killDescendants } from './open.ts'
import { signalGroup } from '../table/process-table.ts'

const graceMs = 250

/**
 * Ends a call's processes: SIGTERM, 250 ms for the first process to leave, then SIGKILL to everything that is left (promise 3).
 * Returns when all are gone, with the pids of those that can't be killed.
 */
export async function terminate ({ child: { pid, exited }, box }: Pick<Started, 'child' | 'box'>): Promise<number[]> {
  if (box === undefined) {
    const descendants = await findDescendants(pid)
    signalGroup(pid, 'SIGTERM')
    await beforeGraceEnds(exited)
    return await killDescendants(pid, descendants)
  }
  await askBox(pid)
  await beforeGraceEnds(exited)
  return await killBox(pid)
}

/** Waits for an exit, 250 ms at most. */
export async function beforeGraceEnds (exited: Promise<unknown>): Promise<void> {
  await within(graceMs, exited)
}
