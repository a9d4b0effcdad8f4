import { join } from 'node:path'
import { entriesOf, identify, isHiddenName, type HiddenPlaces } from './hidden.ts'

/** Finds the names below directories that files of the service have beside their own: hard links. */
export type SecondNames = (directories: readonly string[], hidden: HiddenPlaces) => string[]

/** About 40 ms of an event loop. */
const maxEntries = 10_000
const maxRemembered = 64

/**
 * A search that is made again only when a file of the service has got or lost a name, which shows in the time of its
 * last change.
 *
 * It throws an Error for directories with too many entries, where another name might be missed.
 */
export function createSecondNames (): SecondNames {
  const remembered = new Map<string, string[]>()
  return (directories, hidden) => {
    if (hidden.linked === '') return []
    const key = JSON.stringify([hidden.linked, directories])
    const known = remembered.get(key)
    if (known !== undefined) return known
    if (remembered.size >= maxRemembered) remembered.clear()
    const found = search(directories, hidden)
    remembered.set(key, found)
    return found
  }
}

function search (directories: readonly string[], hidden: HiddenPlaces): string[] {
  const found: string[] = []
  const rest = [...directories]
  let entries = 0
  for (let directory = rest.pop(); directory !== undefined; directory = rest.pop()) {
    const names = hidden.names.get(identify(directory) ?? '') ?? []
    for (const entry of entriesOf(directory)) {
      entries += 1
      if (entries > maxEntries) throw new Error(`a file of the service has another name (a hard link), and ${directory} is in too large a directory to look for it; remove the link, or give the tools a directory of their own`)
      if (isHiddenName(entry.name, names)) continue
      const path = join(directory, entry.name)
      if (entry.isDirectory()) rest.push(path)
      else if (entry.isFile() && hidden.files.has(identify(path) ?? '')) found.push(path)
    }
  }
  return found
}
