import type { HiddenPlaces } from '@toolyard/workspace'
import type { Bubblewrap } from './programs.ts'
import type { MountedPlace } from '../process/plan/plan.ts'
import { filesOfRoot } from '../view/root-files.ts'
import { mountedArguments } from '../view/mounted.ts'
import { isWithin } from '../view/path.ts'
import { showPlace } from '../view/shown.ts'
import { certificatePlaces, networkPlaces, type SystemPlaces } from '../view/system-mounts.ts'

/** All paths are absolute. */
export interface BoxSpec {
  bubblewrap: Bubblewrap
  /** The same for every box. */
  system: SystemPlaces
  etc: string
  /** `machine`: what the machine reaches. A file: the network of what starts the box, where it becomes /etc/hosts. */
  network: 'machine' | 'none' | { hostsFile: string, certificates?: string }
  /** Where an empty directory takes the place of HOME; undefined: nowhere. */
  home: string | undefined
  /** Directories and files to show read-only. */
  readable: readonly string[]
  /** Directories to show in places of their own. */
  mounted: readonly MountedPlace[]
  /** Files that a checked copy takes the place of. */
  replaced: ReadonlyArray<{ place: string, by: string }>
  /** Files and directories of the service, which no box shows. */
  hidden: HiddenPlaces
  /** The directory of a session has nothing of the service in it. */
  workspace: { place: string, real: string, access: 'none' | 'read' | 'write', isSession: boolean }
  /** Where all sessions are shown; present for a host, which shows calls their own of them. */
  sessions?: { place: string, real: string }
  cwd: string
  /** Bytes of each temporary file system. */
  tempBytes: number
  descriptors: { status: number, filter: number | undefined }
  /** Present when what runs inside makes further boxes itself, and puts their filters in force. */
  hasInnerBoxes?: true
}

/** A name that neither the system nor tools use. */
export const certificatesPlace = '/.toolyard-certificates.pem'

/** To make namespaces and to map users in them; only inside the box. */
const innerBoxCapabilities = ['CAP_SYS_ADMIN', 'CAP_SETFCAP']
/** To go into an inner box beside that. */
const enteringCapabilities = ['CAP_SYS_CHROOT', 'CAP_SYS_PTRACE']

/**
 * bubblewrap's arguments for a box, up to `--`. The order matters: later mounts lie on top of earlier ones; the
 * workspace, which a tool may have filled with links, comes last, and nothing is ever mounted below it (CVE-2026-87766).
 *
 * @throws Error when a directory can't be shown without what is hidden in it.
 */
export function boxArguments (spec: BoxSpec): string[] {
  const { bubblewrap, readable, workspace, descriptors, hasInnerBoxes } = spec
  const show = (places: readonly string[]): string[] =>
    places.flatMap(place => showPlace(place, spec.hidden, workspace.place)).flatMap(({ args }) => args)
  const temporary = (place: string): string[] => [...(bubblewrap.size ? ['--size', String(spec.tempBytes)] : []), '--tmpfs', place]
  const inner = [...innerBoxCapabilities, ...spec.sessions === undefined ? [] : enteringCapabilities]
  const capabilities = hasInnerBoxes === undefined ? [] : inner
  return [
    '--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try',
    ...(spec.network === 'none' ? ['--unshare-net'] : []),
    ...(bubblewrap.disableUserns && hasInnerBoxes === undefined ? ['--disable-userns'] : []),
    '--cap-drop', 'ALL', ...capabilities.flatMap(name => ['--cap-add', name]),
    '--die-with-parent', '--hostname', 'toolyard',
    '--json-status-fd', String(descriptors.status),
    ...(descriptors.filter === undefined || hasInnerBoxes !== undefined ? [] : ['--seccomp', String(descriptors.filter)]),
    ...spec.system.links,
    ...show(spec.system.directories),
    '--ro-bind', spec.etc, '/etc',
    ...networkMounts(spec.network, show),
    // Without capabilities, the root user still owns the kernel's switches there, such as core_pattern.
    '--proc', '/proc',
    // The kernel lets nobody mount a new one for an inner box where something covers a part of this one.
    ...(hasInnerBoxes === undefined ? [...filesOfRoot().flatMap(path => ['--ro-bind', '/dev/null', path]), '--remount-ro', '/proc'] : []),
    '--dev', '/dev', ...temporary('/dev/shm'), '--remount-ro', '/dev',
    ...temporary('/tmp'), '--symlink', '/tmp', '/var/tmp',
    ...homeMount(spec.home, temporary),
    ...show(readable.filter(path => isWithin(workspace.place, path))),
    ...(workspace.access === 'none' ? ['--perms', '0555', '--tmpfs', workspace.place] : []),
    ...show(readable.filter(path => !isWithin(workspace.place, path))),
    ...spec.mounted.flatMap(each => mountedArguments(each, spec.hidden, temporary)),
    ...spec.replaced.flatMap(({ place, by }) => ['--ro-bind', by, place]),
    ...workspaceMount(workspace, show),
    ...(spec.sessions === undefined ? [] : ['--bind', spec.sessions.real, spec.sessions.place]),
    '--remount-ro', '/',
    '--chdir', spec.cwd
  ]
}

function networkMounts (network: BoxSpec['network'], show: (places: readonly string[]) => string[]): string[] {
  if (network === 'none') return []
  if (network === 'machine') return show(networkPlaces())
  const { hostsFile, certificates } = network
  const trusted = certificates === undefined ? [] : ['--ro-bind', certificates, certificatesPlace]
  return [...show(certificatePlaces()), '--ro-bind', hostsFile, '/etc/hosts', ...trusted]
}

/** The private /tmp may be what holds it. */
function homeMount (home: string | undefined, temporary: (place: string) => string[]): string[] {
  if (home === undefined) return []
  return isWithin(home, '/tmp') ? ['--dir', home] : temporary(home)
}

/** Where it is read only, it may hold what is hidden; no tool writes there then, so that no link leads a mount away. */
function workspaceMount ({ place, real, access, isSession }: BoxSpec['workspace'], show: (places: readonly string[]) => string[]): string[] {
  switch (access) {
    case 'write': return ['--bind', real, place]
    case 'read': return isSession ? ['--ro-bind', real, place] : show([place])
    case 'none': return ['--remount-ro', place]
  }
}
