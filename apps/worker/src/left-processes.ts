import { orElse } from '@toolyard/contract/terms'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { basename } from 'node:path'

/** Of stdin, stdout and stderr: those of tools lead to files of their worker. */
const descriptors = [0, 1, 2]

/**
 * Kills processes that workers have left which are gone: tools of a worker that was killed together with the process
 * that starts them, and boxes that were being built then. Those of other users are left alone.
 *
 * @param isLeft whether a path is in the temporary directory of a worker that is gone
 */
export function endLeftProcesses (isLeft: (path: string) => boolean): void {
  for (const pid of processIds()) {
    if (pid === process.pid || !belongsToGone(pid, isLeft)) continue
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // Another user's, or gone by now.
    }
  }
}

function belongsToGone (pid: number, isLeft: (path: string) => boolean): boolean {
  return descriptors.some(fd => isLeft(linkOf(`/proc/${pid}/fd/${fd}`))) || commandOf(pid).some(isLeft)
}

/** Of bubblewrap, and of the host of a Python root with all its forks: their arguments name places of their worker. */
function commandOf (pid: number): string[] {
  const words = textOf(`/proc/${pid}/cmdline`).split('\0')
  return words.some(word => ['bwrap', 'toolyard_host.py'].includes(basename(word))) ? words : []
}

function processIds (): number[] {
  return orElse(() => readdirSync('/proc').map(Number).filter(Number.isSafeInteger), [])
}

function linkOf (path: string): string {
  return orElse(() => readlinkSync(path), '')
}

function textOf (path: string): string {
  return orElse(() => readFileSync(path, 'latin1'), '')
}
