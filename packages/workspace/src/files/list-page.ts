import type { Stats } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { entryPath, type Directory } from '../walk/directory.ts'
import { readEntries } from '../walk/entries.ts'
import type { Place } from '../walk/place.ts'
import { isServiceName } from '../service/service-files.ts'
import { removeAbandoned } from '../write/abandoned.ts'
import { isOwnName } from '../service/own-names.ts'

export interface ListedEntry {
  name: string
  stats: Stats
}

/** Entries that are read at once. */
const listed = 256

export interface PageWanted {
  after: string
  limit: number
  /** Whether a name is one that is asked for. */
  counts?: (name: string) => boolean
}

/** Names of a directory in the order of the alphabet. */
export interface NamePage {
  names: string[]
  /** How many follow `after`, those of the page among them. */
  rest: number
  total: number
}

/**
 * The first names of an open directory that follow another one, without those of the service. A part is read at a time:
 * a directory may have a million entries.
 */
export async function pageOfNames (
  place: Place, directory: Directory, { after, limit, counts = () => true }: PageWanted
): Promise<NamePage> {
  const taken = place.root.service.namesIn(directory.handle.fd)
  let names: string[] = []
  const found = { rest: 0, total: 0 }
  for await (const { name, dirent } of readEntries(directory, listed)) {
    const isOwn = isOwnName(name) && !dirent.isDirectory()
    if (isOwn) removeAbandoned(entryPath(directory, name))
    if (isOwn || isServiceName(name, taken) || !counts(name)) continue
    found.total += 1
    if (name <= after) continue
    found.rest += 1
    names.push(name)
    if (names.length > limit + listed) names = names.sort().slice(0, limit)
  }
  return { names: names.sort().slice(0, limit), ...found }
}

/** Undefined for an entry that is gone by now, and for another name of a file of the service. */
export async function entryAt ({ root }: Place, directory: Directory, name: string): Promise<ListedEntry | undefined> {
  const stats = await lstat(entryPath(directory, name)).catch(() => undefined)
  return stats === undefined || root.service.has(entryPath(directory, name), stats) ? undefined : { name, stats }
}
