import { askProgram, findOnPath } from '../process/plan/find-program.ts'
import type { Renamer } from '../process/plan/own-name.ts'

/** A bubblewrap program and what its version can do. */
export interface Bubblewrap {
  /** Absolute path. */
  path: string
  /** Whether it knows `--disable-userns` (0.8.0). */
  disableUserns: boolean
  /** Whether it knows `--size` for its temporary file systems (0.7.0). */
  size: boolean
}

/** Finds `bwrap` on the PATH of `env`; undefined when there is none that runs. */
export async function findBubblewrap (env: NodeJS.ProcessEnv): Promise<Bubblewrap | undefined> {
  const path = findOnPath('bwrap', env['PATH'])
  if (path === undefined) return undefined
  const help = await askProgram(path, ['--help'])
  if (help === undefined) return undefined
  return { path, disableUserns: help.includes('--disable-userns'), size: help.includes('--size') }
}

/** Finds what can run a program under another name: env(1) of coreutils 9.5, else Perl, which takes 1.5 ms. */
export async function findRenamer (env: NodeJS.ProcessEnv): Promise<Renamer> {
  const [envProgram, perl] = ['env', 'perl'].map(name => findOnPath(name, env['PATH']))
  if (envProgram !== undefined && (await askProgram(envProgram, ['--help']))?.includes('--argv0') === true) {
    // It would take such a program for a variable.
    return (program, name) => program.includes('=') ? [program] : [envProgram, `--argv0=${name}`, program]
  }
  return perl === undefined ? undefined : (program, name) => [perl, '-e', 'exec {shift} @ARGV; exit 127', program, name]
}

/**
 * The root user's part of the machine in a box: the device files that bubblewrap shows there. A file behind a
 * read-only mount can be used and not changed; another user owns none of them.
 */
const guardDevices = 'for name in full null random tty urandom zero; do mount -o bind,ro /dev/$name /dev/$name; done 2>/dev/null; '

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
  const answer = await askProgram(unshare, [...plain.slice(1), sh, '-c', 'exit'], { PATH: env['PATH'] })
  return answer !== undefined ? { plain, guarded: process.getuid?.() === 0 ? command(guardDevices) : plain } : noFamily
}
