import { readlinkSync, statSync, type BigIntStats } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { realPath } from './path.ts'

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
  /** Names the state of those that do have other names; empty when there are none. */
  linked: string
}

/** As many as Linux follows. */
const maxLinks = 40

/** Looks where these absolute paths lead, and where every link on their way lies. */
export function findHidden (paths: readonly string[]): HiddenPlaces {
  const names = new Map<string, string[]>()
  const above = new Set<string>()
  const files = new Map<string, BigIntStats>()
  for (const path of new Set(paths.flatMap(path => placesOf(path, { links: maxLinks })))) {
    const [directory, name] = nearest(path)
    const id = identify(directory)
    if (id === undefined || statOf(directory)?.isDirectory() !== true) continue
    names.set(id, [...names.get(id) ?? [], name])
    for (let at = directory; ; at = dirname(at)) {
      const each = identify(at)
      if (each !== undefined) above.add(each)
      if (at === dirname(at)) break
    }
    const stat = statOf(path)
    if (stat?.isFile() === true) files.set(`${stat.dev}:${stat.ino}`, stat)
  }
  const linked = [...files].filter(([, { nlink }]) => nlink > 1n).map(([id, { ctimeNs }]) => `${id}:${ctimeNs}`).sort().join()
  return { names, above, files: new Set(files.keys()), linked }
}

/** The device and inode of what a path leads to; undefined when nothing is there. */
export function identify (path: string): string | undefined {
  const stat = statOf(path)
  return stat === undefined ? undefined : `${stat.dev}:${stat.ino}`
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
function placesOf (path: string, budget: { links: number }): string[] {
  const places: string[] = []
  for (let at = path; ;) {
    const place = join(realDirectory(dirname(at), budget), basename(at))
    places.push(place)
    const target = linkOf(place)
    if (target === undefined || budget.links === 0) return places
    budget.links -= 1
    at = resolve(dirname(place), target)
  }
}

function realDirectory (path: string, budget: { links: number }): string {
  return realPath(path) ?? (path === dirname(path) ? path : placesOf(path, budget).at(-1) ?? path)
}

/** The directory that a path is in; where that isn't there either, what must be made first. */
function nearest (path: string): [directory: string, name: string] {
  const directory = dirname(path)
  return directory === path || identify(directory) !== undefined ? [directory, basename(path)] : nearest(directory)
}

function linkOf (path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

function statOf (path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
