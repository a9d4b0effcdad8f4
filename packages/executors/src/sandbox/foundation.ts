import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { findOnPath } from '../process/find-program.ts'
import type { Bubblewrap } from './bubblewrap.ts'
import { makeEtcDirectory } from './etc-directory.ts'
import { searchPathDirectories } from './search-path.ts'
import { createSecondNames, type SecondNames } from './second-names.ts'
import { sandboxFilter } from './seccomp/filter.ts'
import { createStatusFiles, type StatusFiles } from './status-files.ts'
import { systemPlaces, type SystemPlaces } from './system-mounts.ts'

/** What all boxes of one worker are built on; it is made once. */
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
  /** The compiled seccomp filter; undefined where there is none for this architecture. */
  filterFd: number | undefined
  statusFiles: StatusFiles
  workspaceDir: string
  /** The service's own files and directories. */
  hidden: readonly string[]
  secondNames: SecondNames
  /** Directories that no box shows as a whole. */
  barred: readonly string[]
  /** Those of them that not even a Python root may hold. */
  homes: readonly string[]
}

export interface FoundationOptions {
  env: NodeJS.ProcessEnv
  workspaceDir: string
  /** Files and directories of the service that no tool may see: `.env`, data, logs. */
  hidden: readonly string[]
}

/** Makes the foundation; `closeFoundation` removes it. */
export function makeFoundation (bubblewrap: Bubblewrap, options: FoundationOptions): BoxFoundation {
  const home = options.env['HOME'] ?? homedir()
  const homes = [...new Set(['/', resolve(home)])]
  const barred = [...new Set([...homes, process.cwd()])]
  const directory = mkdtempSync(join(tmpdir(), 'toolyard-box-'))
  return {
    bubblewrap,
    directory,
    etc: makeEtcDirectory(directory, home),
    system: systemPlaces(),
    searchPath: searchPathDirectories(options.env['PATH'] ?? '', barred),
    env: findOnPath('env', options.env['PATH']),
    prlimit: findOnPath('prlimit', options.env['PATH']),
    filterFd: openFilter(directory),
    statusFiles: createStatusFiles(directory),
    workspaceDir: resolve(options.workspaceDir),
    hidden: options.hidden.map(path => resolve(path)),
    secondNames: createSecondNames(),
    barred,
    homes
  }
}

/** Removes what `makeFoundation` made; no box is built on it any more. */
export function closeFoundation ({ directory, filterFd, statusFiles }: BoxFoundation): void {
  statusFiles.close()
  if (filterFd !== undefined) closeSync(filterFd)
  rmSync(directory, { recursive: true, force: true })
}

function openFilter (directory: string): number | undefined {
  const filter = sandboxFilter(process.arch)
  if (filter === undefined) return undefined
  const file = join(directory, 'filter')
  writeFileSync(file, filter, { mode: 0o600 })
  const fd = openSync(file, 'r')
  rmSync(file)
  return fd
}
