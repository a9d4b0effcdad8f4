import { readdirSync, readlinkSync } from 'node:fs'
import { inTurns, processIds } from './process-table.ts'
import { signalProcess } from './signal.ts'

/** What the kernel adds to the path of a file that was removed. */
const removed = / \(deleted\)$/

/**
 * Kills the processes that have one of these files open, and those that they start meanwhile. For processes that are
 * known by nothing else; one that has closed them all isn't found. Each descriptor counts: a process that was forked a
 * moment ago doesn't have them as stdin, stdout and stderr yet.
 */
export async function endHolders (files: readonly string[]): Promise<void> {
  const ended = new Set<number>()
  for (let found = -1; found !== ended.size;) {
    found = ended.size
    for await (const pid of inTurns(processIds())) {
      if (pid !== process.pid && !ended.has(pid) && holds(pid, files) && signalProcess(pid, 'SIGKILL')) ended.add(pid)
    }
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
