import { join } from 'node:path'
import { entriesOf, identify, isHiddenName, linkedFilesBelow, type HiddenPlaces } from '@toolyard/workspace'

/** Finds the names below directories that files of the service have beside their own: hard links. */
export type SecondNames = (directories: readonly string[], hidden: HiddenPlaces) => string[]

/** About 40 ms of an event loop. */
const maxEntries = 10_000
const maxRemembered = 64
/**
 * A look at the files in the service's directories counts for so many times as long as it took. So at most a fiftieth of the
 * time goes into looking.
 */
const restTimes = 49

/**
 * A search that is made again only when a file of the service has got or lost a name, which shows in the time of its
 * last change.
 *
 * It throws an Error for directories with too many entries, where another name of one of the files that are hidden by
 * themselves might be missed. Names of files inside of hidden directories are looked for as far as it gets.
 */
export function createSecondNames (): SecondNames {
  const remembered = new Map<string, string[]>()
  let inside: { directories: string, until: number, files: ReadonlyMap<string, string> } | undefined

  /** With the state of each. */
  function filesInside ({ directories }: HiddenPlaces): ReadonlyMap<string, string> {
    const key = [...directories.values()].join('\0')
    if (inside?.directories !== key || inside.until < performance.now()) {
      const begun = performance.now()
      const files = new Map([...linkedFilesBelow(directories.values())].map(([id, { ctimeNs }]) => [id, `${id}:${ctimeNs}`]))
      inside = { directories: key, until: performance.now() + restTimes * (performance.now() - begun), files }
    }
    return inside.files
  }

  return (directories, hidden) => {
    const within = filesInside(hidden)
    if (hidden.linked === '' && within.size === 0) return []
    const key = JSON.stringify([hidden.linked, [...within.values()].sort(), directories])
    const known = remembered.get(key)
    if (known !== undefined) return known
    if (remembered.size >= maxRemembered) remembered.clear()
    const found = search(directories, hidden, within)
    remembered.set(key, found)
    return found
  }
}

function search (directories: readonly string[], hidden: HiddenPlaces, within: ReadonlyMap<string, string>): string[] {
  const found: string[] = []
  const rest = [...directories]
  let entries = 0
  for (let directory = rest.pop(); directory !== undefined; directory = rest.pop()) {
    const id = identify(directory) ?? ''
    if (hidden.directories.has(id)) continue
    const names = hidden.names.get(id) ?? []
    for (const entry of entriesOf(directory)) {
      entries += 1
      if (entries > maxEntries) {
        if (hidden.linked === '') return found
        throw new Error(`a file of the service has another name (a hard link), and ${directory} is in too large a directory to look for it; remove the link, or give the tools a directory of their own`)
      }
      if (isHiddenName(entry.name, names)) continue
      const path = join(directory, entry.name)
      if (entry.isDirectory()) rest.push(path)
      else if (entry.isFile() && isOneOf(identify(path) ?? '', hidden, within)) found.push(path)
    }
  }
  return found
}

function isOneOf (id: string, hidden: HiddenPlaces, within: ReadonlyMap<string, string>): boolean {
  return hidden.files.has(id) || within.has(id)
}
