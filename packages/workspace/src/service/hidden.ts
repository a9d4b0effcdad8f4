import { orElse } from '@toolyard/contract/terms'
import { lstatSync, readdirSync, readlinkSync, realpathSync, statSync, type BigIntStats, type Dirent } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

/**
 * Where the service keeps its own, as that is at the moment. Directories and files are told by device and inode, so that
 * it doesn't matter by which path somebody comes.
 */
export interface HiddenPlaces {
  /** The names that no box shows, by the directory that they are in, or will be in once they are made. */
  names: ReadonlyMap<string, readonly string[]>
  /** The directories that such names lie below. */
  above: ReadonlySet<string>
  /** The files that are there, which may have other names. */
  files: ReadonlySet<string>
  /** A path of each directory that is there. */
  directories: ReadonlyMap<string, string>
  /** Names the state of those that do have other names; empty when there are none. */
  linked: string
}

/** As many as Linux follows. */
const maxLinks = 40

/** Looks where these absolute paths lead, and where every link on their way lies. */
export function findHidden (paths: readonly string[]): HiddenPlaces {
  const names = new Map<string, string[]>()
  const holders = new Set<string>()
  const files = new Map<string, BigIntStats>()
  const directories = new Map<string, string>()
  const real = new Map<string, string | undefined>()
  const seen: Seen = new Map()
  for (const path of new Set(paths.flatMap(path => placesOf(path, { links: maxLinks, real, seen })))) {
    const [directory, name] = nearest(path, seen)
    const held = see(directory, seen)
    if (held?.isDirectory() !== true) continue
    holders.add(directory)
    const id = `${held.dev}:${held.ino}`
    names.set(id, [...names.get(id) ?? [], name])
    const stat = see(path, seen)
    if (stat?.isFile() === true) files.set(`${stat.dev}:${stat.ino}`, stat)
    if (stat?.isDirectory() === true) directories.set(`${stat.dev}:${stat.ino}`, path)
  }
  const linked = [...files].filter(([, { nlink }]) => nlink > 1n).map(([id, { ctimeNs }]) => `${id}:${ctimeNs}`).sort().join()
  let above: ReadonlySet<string> | undefined
  return {
    names,
    // Few calls ask for it.
    get above () {
      above ??= directoriesAbove(holders, seen)
      return above
    },
    files: new Set(files.keys()),
    directories,
    linked
  }
}

/** These directories and all above them, by device and inode. */
function directoriesAbove (holders: Iterable<string>, seen: Seen): ReadonlySet<string> {
  const above = new Map<string, string | undefined>()
  for (const directory of holders) {
    for (let at = directory; !above.has(at); at = dirname(at)) above.set(at, idOf(see(at, seen)))
  }
  return new Set([...above.values()].filter(id => id !== undefined))
}

/** More would hold up the event loop. */
const maxEntries = 10_000

/**
 * Finds the files below these directories that have more than one name, by device and inode. Of directories with very
 * many entries not all are looked at.
 */
export function linkedFilesBelow (directories: Iterable<string>): Map<string, BigIntStats> {
  const found = new Map<string, BigIntStats>()
  const rest = [...directories]
  let entries = 0
  for (let directory = rest.pop(); directory !== undefined; directory = rest.pop()) {
    for (const entry of entriesOf(directory)) {
      entries += 1
      if (entries > maxEntries) return found
      const path = join(directory, entry.name)
      if (entry.isDirectory()) rest.push(path)
      const stat = entry.isFile() ? statOf(path, lstatSync) : undefined
      if (stat !== undefined && stat.nlink > 1n) found.set(`${stat.dev}:${stat.ino}`, stat)
    }
  }
  return found
}

/** Nothing of what this user can't read: its tools can't either. */
export function entriesOf (directory: string): Dirent[] {
  return orElse(() => readdirSync(directory, { withFileTypes: true }), [])
}

/** One look's memory, and how much it may still do. */
interface Look {
  links: number
  /** Directories without links, by their paths. */
  real: Map<string, string | undefined>
  seen: Seen
}

/** By path. A look comes before each call, so it asks for each path once. */
type Seen = Map<string, BigIntStats | undefined>

function see (path: string, seen: Seen): BigIntStats | undefined {
  if (!seen.has(path)) seen.set(path, statOf(path))
  return seen.get(path)
}

/** The device and inode of what a path leads to; undefined when nothing is there. */
export function identify (path: string): string | undefined {
  return idOf(statOf(path))
}

function idOf (stat: BigIntStats | undefined): string | undefined {
  return stat === undefined ? undefined : `${stat.dev}:${stat.ino}`
}

/** The path behind all symbolic links; undefined when nothing is there. */
export function realPath (path: string): string | undefined {
  return orElse(() => realpathSync.native(path), undefined)
}

/** The hidden directory that a place is or lies in; undefined for any other place, or none. */
export function hiddenAbove (place: string, { directories }: HiddenPlaces): string | undefined {
  if (directories.size === 0) return undefined
  for (let at = realPath(place) ?? place; ; at = dirname(at)) {
    const directory = directories.get(identify(at) ?? '')
    if (directory !== undefined || at === dirname(at)) return directory
  }
}

/** Whether an entry of a directory is one of its hidden names, or what an editor makes of one: a draft, a copy, a lock. */
export function isHiddenName (entry: string, names: readonly string[]): boolean {
  return names.some(name => name.startsWith('.')
    ? entry.includes(name)
    : entry === name || [`${name}~`, `.${name}`, `#${name}`].some(start => entry.startsWith(start)))
}

/**
 * A path without links in its directories, and where it leads if it is a link itself, step by step; nothing of it must
 * exist. Links that lead in circles end somewhere on their way.
 */
function placesOf (path: string, look: Look): string[] {
  const places: string[] = []
  for (let at = path; ;) {
    const place = join(realDirectory(dirname(at), look), basename(at))
    places.push(place)
    const target = linkOf(place, look.seen)
    if (target === undefined || look.links === 0) return places
    look.links -= 1
    at = resolve(dirname(place), target)
  }
}

function realDirectory (path: string, look: Look): string {
  if (!look.real.has(path)) look.real.set(path, realPath(path))
  return look.real.get(path) ?? (path === dirname(path) ? path : placesOf(path, look).at(-1) ?? path)
}

/** The directory that a path is in; where that isn't there either, what must be made first. */
function nearest (path: string, seen: Seen): [directory: string, name: string] {
  const directory = dirname(path)
  return directory === path || see(directory, seen) !== undefined ? [directory, basename(path)] : nearest(directory, seen)
}

/** Asked first what it is: an error for each path that is no link takes longer than all the rest of a look. */
function linkOf (path: string, seen: Seen): string | undefined {
  const stat = statOf(path, lstatSync)
  if (stat?.isSymbolicLink() !== true) {
    seen.set(path, stat)
    return undefined
  }
  return orElse(() => readlinkSync(path), undefined)
}

function statOf (path: string, look: typeof statSync = statSync): BigIntStats | undefined {
  return orElse(() => look(path, { bigint: true, throwIfNoEntry: false }), undefined)
}
