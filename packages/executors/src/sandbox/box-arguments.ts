import type { Bubblewrap } from './bubblewrap.ts'
import { isWithin, kindOf } from './path.ts'
import { networkMounts } from './system-mounts.ts'

/** What one box is built from; all paths are absolute. */
export interface BoxSpec {
  bubblewrap: Bubblewrap
  /** Mounts of the system, the same for every box. */
  system: readonly string[]
  /** The directory that becomes /etc. */
  etc: string
  network: boolean
  /** Where an empty directory takes the place of HOME; undefined: nowhere. */
  home: string | undefined
  /** Directories and files to show read-only. */
  readable: readonly string[]
  /** Files that a checked copy takes the place of. */
  replaced: ReadonlyArray<{ place: string, by: string }>
  /** Files and directories of the service, covered wherever they would show. */
  hidden: readonly string[]
  workspace: { place: string, real: string, access: 'none' | 'read' | 'write' }
  cwd: string
  /** Bytes of each temporary file system. */
  tempBytes: number
  descriptors: { status: number, filter: number | undefined }
  /** Present when what runs inside makes further boxes itself, and puts their filters in force. */
  nesting?: { directory: string, place: string }
}

/** What it takes to make namespaces and to map users in them; inside the box alone. */
const nestingCapabilities = ['CAP_SYS_ADMIN', 'CAP_SETFCAP']

/**
 * bubblewrap's arguments for a box, up to `--`. The order matters: later mounts lie on top of earlier ones; the
 * workspace, which a tool may have filled with links, comes last, and nothing is ever mounted below it (CVE-2026-87766).
 */
export function boxArguments (spec: BoxSpec): string[] {
  const { bubblewrap, readable, workspace, descriptors, nesting } = spec
  const temporary = (place: string): string[] => [...(bubblewrap.size ? ['--size', String(spec.tempBytes)] : []), '--tmpfs', place]
  return [
    '--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try',
    ...(spec.network ? [] : ['--unshare-net']),
    ...(bubblewrap.disableUserns && nesting === undefined ? ['--disable-userns'] : []),
    '--cap-drop', 'ALL', ...(nesting === undefined ? [] : nestingCapabilities.flatMap(name => ['--cap-add', name])),
    '--die-with-parent', '--hostname', 'toolyard',
    '--json-status-fd', String(descriptors.status),
    ...(descriptors.filter === undefined ? [] : ['--seccomp', String(descriptors.filter)]),
    ...spec.system,
    '--ro-bind', spec.etc, '/etc',
    ...(spec.network ? networkMounts() : []),
    // Without capabilities, the root user still owns the kernel's switches there, such as core_pattern.
    '--proc', '/proc', ...(nesting === undefined ? ['--remount-ro', '/proc'] : ['--ro-bind', nesting.directory, nesting.place]),
    '--dev', '/dev', ...temporary('/dev/shm'), '--remount-ro', '/dev',
    ...temporary('/tmp'), '--symlink', '/tmp', '/var/tmp',
    ...homeMount(spec.home, temporary),
    ...binds(readable.filter(path => isWithin(workspace.place, path))),
    ...(workspace.access === 'none' ? ['--perms', '0555', '--tmpfs', workspace.place] : []),
    ...binds(readable.filter(path => !isWithin(workspace.place, path))),
    ...spec.replaced.flatMap(({ place, by }) => ['--ro-bind', by, place]),
    ...covers(spec.hidden, [...spec.system.filter(part => part.startsWith('/')), ...readable]),
    ...workspaceMount(workspace),
    '--remount-ro', '/',
    '--chdir', spec.cwd
  ]
}

function binds (paths: readonly string[]): string[] {
  return paths.flatMap(path => ['--ro-bind-try', path, path])
}

/** The private /tmp may be what holds it. */
function homeMount (home: string | undefined, temporary: (place: string) => string[]): string[] {
  if (home === undefined) return []
  return isWithin(home, '/tmp') ? ['--dir', home] : temporary(home)
}

/** An empty thing on top of everything hidden that lies in a directory which is shown. */
function covers (hidden: readonly string[], shown: readonly string[]): string[] {
  return hidden.filter(path => shown.some(directory => isWithin(path, directory))).flatMap(path => {
    switch (kindOf(path)) {
      case 'directory': return ['--perms', '0555', '--tmpfs', path, '--remount-ro', path]
      case 'file': return ['--ro-bind', '/dev/null', path]
      default: return []
    }
  })
}

function workspaceMount ({ place, real, access }: BoxSpec['workspace']): string[] {
  switch (access) {
    case 'write': return ['--bind', real, place]
    case 'read': return ['--ro-bind', real, place]
    case 'none': return ['--remount-ro', place]
  }
}
