import { readlinkSync } from 'node:fs'
import { inTurns, processIds } from './process-table.ts'
import { signalProcess } from './signal.ts'

/** stdin, stdout and stderr. */
const descriptors = [0, 1, 2]
/** What the kernel adds to the path of a file that was removed. */
const removed = / \(deleted\)$/

/**
 * Kills the processes whose stdin, stdout or stderr leads to one of these files, and those that they start meanwhile.
 * For processes that are known by nothing else; one that has closed all three isn't found.
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
  return descriptors.some(fd => {
    try {
      return files.includes(readlinkSync(`/proc/${pid}/fd/${fd}`).replace(removed, ''))
    } catch {
      return false
    }
  })
}
