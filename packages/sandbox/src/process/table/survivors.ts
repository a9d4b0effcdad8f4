import { readFileSync } from 'node:fs'
import { readMark } from './mark.ts'
import { inTurns, processIds } from './process-table.ts'
import type { TreeRoot } from './tree.ts'

/** After a longer time, process ids may have wrapped around. */
const trustedMs = 1_000

/**
 * Whether something of a call may have outlived its first process, which ran for `ms`. Cheaper than to look at every
 * process: ids are given out in order, so only those after the call's own can be its descendants, and all of these bear
 * its mark. True when that can't be found out, false where there is no /proc.
 */
export async function mayHaveSurvivors (root: TreeRoot, ms: number): Promise<boolean> {
  if (root.started === undefined) return false
  if (root.mark === undefined || ms > trustedMs) return true
  const last = lastPid()
  const wrapped = last < root.pid
  const younger = processIds().filter(pid => pid > root.pid || (wrapped && pid <= last))
  for await (const pid of inTurns(younger)) if (readMark(pid) === root.mark) return true
  return false
}

/** The id that was given out last, the fifth field of proc_loadavg(5); NaN where that is hidden. */
function lastPid (): number {
  try {
    return Number(readFileSync('/proc/loadavg', 'latin1').split(' ')[4])
  } catch {
    return Number.NaN
  }
}
