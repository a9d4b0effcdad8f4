import { execFile } from 'node:child_process'
import { findOnPath } from '../process/find-program.ts'

/**
 * What the root user owns of the machine in a box: the device files that bubblewrap shows there. What lies behind a
 * read-only mount can be used and not changed; another user owns none of them.
 */
const guardDevices = 'for name in full null random tty urandom zero; do mount --bind /dev/$name /dev/$name && mount -o remount,bind,ro /dev/$name; done 2>/dev/null; '
const timeoutMs = 5_000

/**
 * The command line that runs what follows it in a pid namespace, with all that it starts; empty where that can't be had.
 *
 * A box alone may outlive the worker: while it is being built, there is a moment in which its first process has lost its
 * parent and has not yet asked the kernel to end with it. The kernel ends a namespace as a whole: here with its first
 * process, which does nothing but wait for the one that follows it (and bury orphans). That one ends with its stdin, or
 * its connection to the worker, however the worker dies.
 */
export async function familyCommand (env: NodeJS.ProcessEnv): Promise<string[]> {
  const [unshare, sh] = ['unshare', 'sh'].map(name => findOnPath(name, env['PATH']))
  if (unshare === undefined || sh === undefined) return []
  const root = process.getuid?.() === 0
  const command = [
    unshare, '--user', '--map-current-user', '--pid', '--mount-proc', '--fork', '--kill-child=KILL', '--',
    sh, '-c', `${root ? guardDevices : ''}"$@"; exit`, sh
  ]
  const works = await new Promise<boolean>(resolve => {
    execFile(unshare, [...command.slice(1), sh, '-c', 'exit'], { env: { PATH: env['PATH'] }, timeout: timeoutMs }, error => { resolve(error === null) })
  })
  return works ? command : []
}
