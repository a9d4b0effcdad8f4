import { execFile } from 'node:child_process'
import { findOnPath } from '../process/plan/find-program.ts'

/**
 * What the root user owns of the machine in a box: the device files that bubblewrap shows there. What lies behind a
 * read-only mount can be used and not changed; another user owns none of them.
 */
const guardDevices = 'for name in full null random tty urandom zero; do mount -o bind,ro /dev/$name /dev/$name; done 2>/dev/null; '
const timeoutMs = 5_000

/** Command lines that run what follows them in a pid namespace, with all that it starts; both empty where that can't be had. */
export interface Family {
  plain: readonly string[]
  /** Device files can't be changed in there, either. */
  guarded: readonly string[]
}

/** No namespace around boxes. */
export const noFamily: Family = { plain: [], guarded: [] }

/**
 * Finds out how to run a family of processes that ends as a whole: in a pid namespace, whose first process only waits for
 * the one that follows it. A box alone may outlive its worker: docs/decisions/0048-process-families.md.
 */
export async function findFamily (env: NodeJS.ProcessEnv): Promise<Family> {
  const [unshare, sh] = ['unshare', 'sh'].map(name => findOnPath(name, env['PATH']))
  if (unshare === undefined || sh === undefined) return noFamily
  const command = (first: string): string[] => [unshare, '--user', '--map-current-user', '--pid', '--mount-proc', '--fork', '--kill-child=KILL', '--', sh, '-c', `${first}"$@"; exit`, sh]
  const plain = command('')
  const works = await new Promise<boolean>(resolve => {
    execFile(unshare, [...plain.slice(1), sh, '-c', 'exit'], { env: { PATH: env['PATH'] }, timeout: timeoutMs }, error => { resolve(error === null) })
  })
  return works ? { plain, guarded: process.getuid?.() === 0 ? command(guardDevices) : plain } : noFamily
}
