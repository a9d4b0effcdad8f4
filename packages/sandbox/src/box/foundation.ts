import { closeSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { findOnPath } from '../process/plan/find-program.ts'
import type { HelperPlace } from '../process/launch/helper-process.ts'
import type { Renamer } from '../process/plan/own-name.ts'
import type { Bubblewrap } from './programs.ts'
import { makeEtcDirectory } from '../view/etc-directory.ts'
import { readHardLimits, type HardLimits } from './limits.ts'
import { findRenamer } from './programs.ts'
import type { Family } from './programs.ts'
import { openReadOnly } from '../view/read-only-view.ts'
import { searchPathDirectories } from '../view/search-path.ts'
import { createSecondNames, type SecondNames } from '../view/second-names.ts'
import { sandboxFilter } from '../seccomp/filter.ts'
import { createStatusFiles, type StatusFiles } from './status-files.ts'
import { systemPlaces, type SystemPlaces } from '../view/system-mounts.ts'

/** Made once for all boxes of one worker. */
export interface BoxFoundation {
  bubblewrap: Bubblewrap
  /** A private directory for the files below; removed at the end. */
  directory: string
  etc: string
  system: SystemPlaces
  /** Directories outside the system that the PATH leads to. */
  searchPath: readonly string[]
  /** Absolute paths of env(1) and prlimit(1), where there are any. */
  env: string | undefined
  prlimit: string | undefined
  /** Those of this process: no tool has more. */
  hardLimits: HardLimits
  renamer: Renamer
  /** Absolute path of Perl, which waits in boxes that are made before their calls; undefined where there is none. */
  perl: string | undefined
  /** The file of the compiled seccomp filter; undefined where there is none for this architecture. */
  filter: string | undefined
  /** The same, of the filter that lets Unix sockets through. */
  unixFilter: string | undefined
  statusFiles: StatusFiles
  /** A command line in front of what starts boxes, so that they end with the worker. */
  family: readonly string[]
  /** Where the helper keeps what stdin, stdout and stderr of tools lead to, and the same behind a read-only mount. */
  channels: { directory: string, view: number } | undefined
  workspaceDir: string
  /** Where sessions have their directories. A call sees only its own. */
  sessionsDir: string | undefined
  /** The service's own files and directories. */
  hidden: readonly string[]
  /** What tools may see, and never write. */
  kept: readonly string[]
  secondNames: SecondNames
  /** Directories that no box shows as a whole. */
  barred: readonly string[]
  /** Those of them that not even a Python root may hold. */
  homes: readonly string[]
}

export interface FoundationOptions {
  env: NodeJS.ProcessEnv
  workspaceDir: string
  /** Where sessions have their directories; absent where there are none. */
  sessionsDir?: string
  /** Files and directories of the service that no tool may see: `.env`, data, logs. */
  hidden: readonly string[]
  /** Files and directories that say what tools may do: where the workspace has one, no tool may write there. */
  kept?: readonly string[]
}

interface FoundationMeans {
  bubblewrap: Bubblewrap
  family: Family
}

/** Makes the foundation; `closeFoundation` removes it. */
export async function makeFoundation ({ bubblewrap, family }: FoundationMeans, options: FoundationOptions): Promise<BoxFoundation> {
  const home = options.env['HOME'] ?? homedir()
  const homes = [...new Set(['/', resolve(home)])]
  const barred = [...new Set([...homes, process.cwd()])]
  const directory = mkdtempSync(join(tmpdir(), 'toolyard-box-'))
  const channels = join(directory, 'channels')
  mkdirSync(channels, { mode: 0o700 })
  const [view, renamer] = await Promise.all([openReadOnly(channels, [...family.plain, bubblewrap.path]), findRenamer(options.env)])
  return {
    bubblewrap,
    directory,
    etc: makeEtcDirectory(directory, home),
    system: systemPlaces(),
    searchPath: searchPathDirectories(options.env['PATH'] ?? '', barred),
    env: findOnPath('env', options.env['PATH']),
    prlimit: findOnPath('prlimit', options.env['PATH']),
    hardLimits: readHardLimits(),
    renamer,
    perl: findOnPath('perl', options.env['PATH']),
    filter: writeFilter(directory),
    unixFilter: writeFilter(directory, true),
    statusFiles: createStatusFiles(directory),
    family: family.guarded,
    channels: view === undefined ? undefined : { directory: channels, view },
    workspaceDir: resolve(options.workspaceDir),
    sessionsDir: options.sessionsDir === undefined ? undefined : resolve(options.sessionsDir),
    hidden: options.hidden.map(path => resolve(path)),
    kept: (options.kept ?? []).map(path => resolve(path)),
    secondNames: createSecondNames(),
    barred,
    homes
  }
}

export function placeOf ({ family, channels }: BoxFoundation): HelperPlace {
  return { prefix: family, ...(channels === undefined ? {} : { channels }) }
}

/** Where a helper runs that has a network namespace of its own; undefined where that can't be had. */
export function networkPlaceOf ({ bubblewrap, family, channels }: BoxFoundation, path: string | undefined, network: NonNullable<HelperPlace['network']>): HelperPlace | undefined {
  const [sh, unshare] = ['sh', 'unshare'].map(name => findOnPath(name, path))
  if (sh === undefined || unshare === undefined) return undefined
  const prefix = [
    ...family,
    // It brings the loopback up. The capability is for the next line alone: the second user namespace takes it away again.
    bubblewrap.path, '--unshare-user', '--unshare-net', '--cap-add', 'CAP_NET_ADMIN', '--die-with-parent', '--dev-bind', '/', '/', '--',
    // The shell stays, as the process by which others find the namespace that owns the network.
    sh, '-c', 'echo 0 > /proc/sys/net/ipv4/ip_unprivileged_port_start; "$@"; exit', sh,
    unshare, '--user', '--map-current-user', '--'
  ]
  return { prefix, network, ...(channels === undefined ? {} : { channels }) }
}

/** Removes what `makeFoundation` made; no box is built on it any more. */
export function closeFoundation ({ directory, channels }: BoxFoundation): void {
  if (channels !== undefined) closeSync(channels.view)
  rmSync(directory, { recursive: true, force: true })
}

function writeFilter (directory: string, unixSockets = false): string | undefined {
  const filter = sandboxFilter(process.arch, unixSockets)
  if (filter === undefined) return undefined
  const file = join(directory, unixSockets ? 'unix-filter' : 'filter')
  writeFileSync(file, filter, { mode: 0o600 })
  return file
}
