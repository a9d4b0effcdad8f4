import { readdirSync, readlinkSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { inTurns, processIds } from './process-table.ts'
import { signalProcess } from './signal.ts'

/** What the kernel adds to the path of a file that was removed. */
const removed = / \(deleted\)$/

const pauseMs = 5
/** As for `killTree`. */
const patienceMs = 5_000

/**
 * Kills the processes that have one of these files open, and those that they start meanwhile, and returns when none is
 * left (promise 3), or after 5 s. For processes that are known by nothing else; one that has closed them all isn't found.
 * Each descriptor counts: a process that was forked a moment ago doesn't have them as stdin, stdout and stderr yet.
 */
export async function endHolders (files: readonly string[]): Promise<void> {
  const until = performance.now() + patienceMs
  for (let isOver = false; !isOver;) {
    isOver = true
    for await (const pid of inTurns(processIds())) {
      if (pid !== process.pid && holds(pid, files) && signalProcess(pid, 'SIGKILL')) isOver = performance.now() > until
    }
    // A killed process has its files until it is gone.
    if (!isOver) await sleep(pauseMs)
  }
}

function holds (pid: number, files: readonly string[]): boolean {
  return descriptorsOf(pid).some(fd => {
    try {
      return files.includes(readlinkSync(`/proc/${pid}/fd/${fd}`).replace(removed, ''))
    } catch {
      return false
    }
  })
}

function descriptorsOf (pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`)
  } catch {
    return []
  }
}
