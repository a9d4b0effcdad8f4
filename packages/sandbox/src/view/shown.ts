import { readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { identify, isHiddenName, type HiddenPlaces } from '@toolyard/workspace'
import { isWithin } from './path.ts'

/** One step of showing something in a box. */
export interface ShownPart {
  /** bubblewrap's arguments. */
  args: readonly string[]
  /** Another one when something else is shown in the same place. */
  id: string
}

/** More would take bubblewrap seconds. */
const maxParts = 1_000

/**
 * Shows a directory or file read-only, in its own place. A directory that holds something hidden is an empty one in which
 * every other entry is shown by itself: what isn't there can't come to light when it is moved or replaced, and no entry
 * that is made later appears.
 *
 * @param mountPoint a path that something will be mounted on; it becomes an empty directory where it lies in `place`
 * @throws Error for a directory that can't be shown in this way.
 */
export function showPlace (place: string, hidden: HiddenPlaces, mountPoint: string): ShownPart[] {
  const id = identify(place)
  if (id === undefined) return []
  if (!hidden.above.has(id)) return [bind(place, place, id)]
  const parts = place === '/' ? undefined : showEntries(place, { directory: id, hidden, mountPoint })
  if (parts === undefined || parts.length > maxParts) throw new Error(`${place} holds files of the service and too much beside them; give the tools a directory of their own`)
  return [{ args: ['--perms', '0755', '--tmpfs', place], id }, ...parts, { args: ['--remount-ro', place], id: '' }]
}

interface ShownDirectory {
  /** The identity of the directory that is shown. */
  directory: string
  hidden: HiddenPlaces
  mountPoint: string
}

function showEntries (place: string, { directory, hidden, mountPoint }: ShownDirectory): ShownPart[] {
  const names = hidden.names.get(directory) ?? []
  return readdirSync(place, { withFileTypes: true }).flatMap(entry => {
    const path = join(place, entry.name)
    if (isHiddenName(entry.name, names)) return isWithin(mountPoint, path) ? [{ args: ['--dir', mountPoint], id: '' }] : []
    if (entry.isSymbolicLink()) return showLink(path)
    // A socket or a FIFO would be a way to somebody outside.
    if (!entry.isDirectory() && !entry.isFile()) return []
    const id = identify(path)
    if (id === undefined || hidden.files.has(id)) return []
    if (!hidden.above.has(id)) return [bind(path, path, id)]
    return [{ args: ['--dir', path], id }, ...showEntries(path, { directory: id, hidden, mountPoint })]
  })
}

/** As a link, since bubblewrap would show what it leads to. */
function showLink (path: string): ShownPart[] {
  try {
    return [{ args: ['--symlink', readlinkSync(path), path], id: '' }]
  } catch {
    // It is gone by now.
    return []
  }
}

/** Whether the box of a process shows these parts, which may have been replaced while it was built; true where that can't be told. */
export function isShownTo (pid: number, parts: readonly ShownPart[]): boolean {
  const inside = `/proc/${pid}/root`
  return identify(inside) === undefined || parts.every(({ args: [kind, , place], id }) => kind !== bindOption || identify(`${inside}${place}`) === id)
}

const bindOption = '--ro-bind-try'

function bind (source: string, place: string, id: string): ShownPart {
  return { args: [bindOption, source, place], id }
}
