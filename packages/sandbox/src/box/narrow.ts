import type { WorkspacePart } from '../process/plan/plan.ts'
import type { BoxSpec } from './box-arguments.ts'

/**
 * A command line that runs what follows it in a box within the box, which shows only parts of the workspace. Paths are
 * looked up in here, so that a link which takes the place of a part leads to nothing but what the outer box shows.
 *
 * @param setting arguments that set the variables of what runs inside
 */
export function narrowCommand (spec: BoxSpec, parts: readonly WorkspacePart[], setting: readonly string[]): string[] {
  const { bubblewrap, workspace: { place }, readable, descriptors: { filter } } = spec
  // Files of the tool itself may lie in the workspace.
  const own = readable.filter(path => path.startsWith(`${place}/`))
  return [
    bubblewrap.path, '--unshare-user', ...(bubblewrap.disableUserns ? ['--disable-userns'] : []), '--cap-drop', 'ALL', '--die-with-parent',
    ...(filter === undefined ? [] : ['--seccomp', String(filter)]),
    '--dev-bind', '/', '/', '--remount-ro', '/proc',
    // Mount points are made in an empty directory of its own, where nobody else puts links.
    '--tmpfs', place,
    ...own.flatMap(path => ['--ro-bind-try', path, path]),
    ...parts.flatMap(part => [part.writable ? '--bind-try' : '--ro-bind-try', part.place, part.place]),
    '--remount-ro', place,
    '--chdir', spec.cwd, ...setting, '--'
  ]
}
