import { readFileSync } from 'node:fs'
import { errorCode } from '@toolyard/contract/terms'

/**
 * Whether a process lives, and is the one that began at that moment: another may have its number now.
 *
 * @param start from `startTicks`
 */
export function isAlive (pid: number, start: number): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (errorCode(error) !== 'EPERM') return false
  }
  return startTicks(pid) === start
}

/**
 * Clock ticks from boot to the process's start, on Linux; 0 where that can't be told. It is field 22 of `stat`, counted
 * behind the name, which may hold anything.
 */
export function startTicks (pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19])
  } catch {
    return 0
  }
}
