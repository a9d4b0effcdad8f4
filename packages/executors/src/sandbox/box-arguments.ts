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
  /** Files and directories of the service, covered wherever they would show. */
  hidden: readonly string[]
  workspace: { place: string, real: string, access: 'none' | 'read' | 'write' }
  cwd: string
  /** Bytes of each temporary file system. */
  tempBytes: number
  descriptors: { status: number, filter: number | undefined }
}

/**
 * bubblewrap's arguments for a box, up to `--`. The order matters: later mounts lie on top of earlier ones; the
 * workspace, which a tool may have filled with links, comes last, and nothing is ever mounted below it (CVE-2026-87766).
 */
export function boxArguments (spec: BoxSpec): string[] {
  const { bubblewrap, readable, workspace, descriptors } = spec
  const temporary = (place: string): string[] => [...(bubblewrap.size ? ['--size', String(spec.tempBytes)] : []), '--tmpfs', place]
  return [
    '--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try',
    ...(spec.network ? [] : ['--unshare-net']),
    ...(bubblewrap.disableUserns ? ['--disable-userns'] : []),
    '--cap-drop', 'ALL', '--die-with-parent', '--hostname', 'toolyard',
    '--json-status-fd', String(descriptors.status),
    ...(descriptors.filter === undefined ? [] : ['--seccomp', String(descriptors.filter)]),
    ...spec.system,
    '--ro-bind', spec.etc, '/etc',
    ...(spec.network ? networkMounts() : []),
    // Without capabilities, the root user still owns the kernel's switches there, such as core_pattern.
    '--proc', '/proc', '--remount-ro', '/proc',
    '--dev', '/dev', ...temporary('/dev/shm'), '--remount-ro', '/dev',
    ...temporary('/tmp'), '--symlink', '/tmp', '/var/tmp',
    ...homeMount(spec.home, temporary),
    ...(workspace.access === 'none' ? ['--perms', '0555', '--tmpfs', workspace.place] : []),
    ...readable.flatMap(path => ['--ro-bind-try', path, path]),
    ...covers(spec.hidden, [...spec.system.filter(part => part.startsWith('/')), ...readable]),
    ...workspaceMount(workspace),
    '--remount-ro', '/',
    '--chdir', spec.cwd
  ]
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
