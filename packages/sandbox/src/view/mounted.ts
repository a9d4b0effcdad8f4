import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { identify, type HiddenPlaces } from '@toolyard/workspace'
import type { MountedPlace } from '../process/plan/plan.ts'

/** More would take bubblewrap seconds. */
const maxParts = 1_000

/**
 * bubblewrap's arguments that show a directory in a place of its own, read-only. With `overlay` the place is a temporary
 * directory in which every file is shown by itself: what is written beside the files is gone with the box.
 *
 * @throws Error for a directory that can't be shown in this way.
 */
export function mountedArguments (
  { source, place, overlay = false }: MountedPlace, hidden: HiddenPlaces, temporary: (place: string) => string[]
): string[] {
  const id = identify(source)
  if (id === undefined) return []
  if (hidden.above.has(id)) throw new Error(`${source} holds files of the service; give the tools a directory of their own`)
  if (!overlay) return ['--ro-bind', source, place]
  const parts = filesIn(source, place, { left: maxParts })
  return [...temporary(place), ...parts]
}

/** Links are left out: what they lead to isn't there. */
function filesIn (source: string, place: string, count: { left: number }): string[] {
  return readdirSync(source, { withFileTypes: true }).flatMap(entry => {
    count.left -= 1
    if (count.left < 0) throw new Error(`${source} has more than ${maxParts} files, too many to write beside`)
    const [from, to] = [join(source, entry.name), join(place, entry.name)]
    if (entry.isDirectory()) return ['--dir', to, ...filesIn(from, to, count)]
    return entry.isFile() ? ['--ro-bind-try', from, to] : []
  })
}
