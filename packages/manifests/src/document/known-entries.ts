import { writeThrough } from '@toolyard/contract/terms'
import { manifestLimits } from '../tool/limits.ts'
import { isDeeperThan } from './depth.ts'
import { createPause } from './pause.ts'

/** The entries of one load, by the files that they stand in. */
export type KnownEntries = ReadonlyMap<string, readonly KnownEntry[]>

interface KnownEntry {
  text: string | undefined
  entry: unknown
}

/** One load's readings, for the next. */
export interface EntryMemory {
  readonly before: KnownEntries
  readonly now: Map<string, readonly KnownEntry[]>
}

export function createEntryMemory (before: KnownEntries = new Map()): EntryMemory {
  return { before, now: new Map() }
}

/**
 * The entries of a file; one that stands where it stood, written as it was, is the same object as in the load before. So what
 * was found out of it then is found again by `perEntry`.
 */
export async function knownEntries (file: string, entries: readonly unknown[], { before, now }: EntryMemory): Promise<unknown[]> {
  const old = before.get(file) ?? []
  const known: KnownEntry[] = []
  const pause = createPause()
  for (const [index, entry] of entries.entries()) {
    await pause()
    // An entry that nests too deeply is refused each time.
    const text = isDeeperThan(manifestLimits.depth, entry) ? undefined : writeThrough(entry)
    const last = old[index]
    known.push(last !== undefined && text !== undefined && last.text === text ? last : { text, entry })
  }
  now.set(file, known)
  return known.map(({ entry }) => entry)
}

/** Makes what depends on nothing but one entry of one file, once for each. What isn't an object is made each time. */
export function perEntry<Made> (): (entry: unknown, make: () => Made) => Made {
  const made = new WeakMap<object, Made>()
  return (entry, make) => {
    if (typeof entry !== 'object' || entry === null) return make()
    const known = made.get(entry)
    if (known !== undefined) return known
    const own = make()
    made.set(entry, own)
    // A machine that is out of something may not be the next time.
    if (own instanceof Promise) own.catch(() => { made.delete(entry) })
    return own
  }
}
