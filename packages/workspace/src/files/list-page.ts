import type { Stats } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { entryPath, type Directory } from '../walk/directory.ts'
import { readEntries, type DirectoryEntry } from '../walk/entries.ts'
import type { Place } from '../walk/place.ts'
import { isServiceName } from '../service/service-files.ts'
import { removeAbandoned } from '../write/abandoned.ts'
import { isOwnName } from '../service/own-names.ts'

interface ListedEntry {
  name: string
  stats: Stats
}

/** Entries that are read at once. */
const listed = 256

interface PageWanted {
  after: string
  limit: number
  /** Whether a name is one that is asked for. */
  counts?: (name: string) => boolean
  /** Reads a piece of the directory when its turn comes. What it throws ends the listing. */
  inTurn: <T>(read: () => Promise<T>) => Promise<T>
}

/** Names of a directory in the order of the alphabet. */
interface NamePage {
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
  place: Place, directory: Directory, { after, limit, counts = () => true, inTurn }: PageWanted
): Promise<NamePage> {
  const taken = place.root.service.namesIn(directory.handle.fd)
  let names: string[] = []
  const found = { rest: 0, total: 0 }
  const add = ({ name, dirent }: DirectoryEntry): void => {
    const isOwn = isOwnName(name) && !dirent.isDirectory()
    if (isOwn) removeAbandoned(entryPath(directory, name))
    if (isOwn || isServiceName(name, taken) || !counts(name)) return
    found.total += 1
    if (name <= after) return
    found.rest += 1
    names.push(name)
    if (names.length > limit + listed) names = names.sort().slice(0, limit)
  }
  const entries = readEntries(directory, listed)
  try {
    while (await inTurn(async () => await takeSome(entries, add)));
  } finally {
    await entries.return(undefined)
  }
  return { names: names.sort().slice(0, limit), ...found }
}

/** Whether there may be more. */
async function takeSome (entries: AsyncGenerator<DirectoryEntry>, take: (entry: DirectoryEntry) => void): Promise<boolean> {
  for (let count = 0; count < listed; count++) {
    const { done, value } = await entries.next()
    if (done === true) return false
    take(value)
  }
  return true
}

/** Undefined for an entry that is gone by now, and for another name of a file of the service. */
export async function entryAt ({ root }: Place, directory: Directory, name: string): Promise<ListedEntry | undefined> {
  const stats = await lstat(entryPath(directory, name)).catch(() => undefined)
  return stats === undefined || root.service.has(entryPath(directory, name), stats) ? undefined : { name, stats }
}
