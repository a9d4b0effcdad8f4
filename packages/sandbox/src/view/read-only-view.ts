import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { constants, openSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { childrenOf } from '../process/table/process-table.ts'

/** Opens a place as such, neither for reading nor for writing: Node has no name for it. */
const O_PATH = 0o10000000
const patienceMs = 5_000

/**
 * Opens a directory behind a read-only mount. A file that is opened through it can't be written to, have its attributes
 * changed, or be opened for writing by the path of its descriptor, by whoever gets it: not even by its owner.
 *
 * The mount is that of a process which ends at once; what is open keeps the mount.
 *
 * @param bubblewrap its command line
 * @returns the descriptor; undefined where there are no such mounts
 */
export async function openReadOnly (directory: string, bubblewrap: readonly string[]): Promise<number | undefined> {
  const [program, ...args] = [...bubblewrap, '--unshare-user', '--dev-bind', '/', '/', '--ro-bind', directory, directory, '--die-with-parent', 'cat']
  const child = spawn(program, args, { cwd: '/', env: { PATH: process.env['PATH'] }, detached: true, stdio: ['pipe', 'pipe', 'ignore'], timeout: patienceMs, killSignal: 'SIGKILL' })
  const ended = once(child, 'close').catch(() => {})
  try {
    if (!await echoes(child)) return undefined
    return openSync(`/proc/${lastDescendant(child.pid ?? 0)}/root${directory}`, O_PATH | constants.O_DIRECTORY)
  } catch {
    // Such as a /proc that shows nothing.
    return undefined
  } finally {
    child.stdin.end()
    await ended
  }
}

/** Whether the mounts are made: only then does the program run that answers. */
async function echoes (child: ChildProcessByStdio<Writable, Readable, null>): Promise<boolean> {
  child.stdin.on('error', () => {}).write('.')
  return await Promise.race([once(child.stdout, 'data').then(() => true), once(child, 'close').then(() => false)]).catch(() => false)
}

/** Each of them has one child. */
function lastDescendant (pid: number): number {
  const [child] = childrenOf(pid)
  return child === undefined ? pid : lastDescendant(child)
}
