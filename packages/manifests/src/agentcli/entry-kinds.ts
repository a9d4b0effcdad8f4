import { isRecord } from '@toolyard/contract/terms'
import type { KindPlace, KindReading } from '../layer/entry-kind.ts'
import { readHttpEntry } from './http/entry.ts'
import { mcpEntryReader } from './mcp/entry.ts'
import { readSkillEntry } from './skill/entry.ts'

type ReadEntry = (entry: Record<string, unknown>, place: KindPlace) => Promise<KindReading>

/** Kinds of entries that hold something else than a command, by the field that tells them: each is read anew for a manifest. */
const kinds: Readonly<Record<string, () => ReadEntry>> = {
  http: () => readHttpEntry,
  mcp: mcpEntryReader,
  skill: () => readSkillEntry
}

/** The kind of an entry that isn't a command; undefined for all others, which the format's own rules judge. */
export function entryKind (entry: unknown): string | undefined {
  if (!isRecord(entry) || Object.hasOwn(entry, 'command')) return undefined
  return Object.keys(kinds).find(kind => Object.hasOwn(entry, kind) && entry[kind] !== null)
}

/** Makes the reader of the entries of one manifest that have a kind of their own. It gives undefined for commands. */
export function kindReader (place: Omit<KindPlace, 'index' | 'names'>): (entry: unknown, index: number) => Promise<KindReading | undefined> {
  const names = new Map(Object.keys(kinds).map(kind => [kind, new Set<string>()]))
  const readers = new Map(Object.entries(kinds).map(([kind, open]) => [kind, open()]))
  return async (entry, index) => {
    const kind = entryKind(entry)
    if (kind === undefined || !isRecord(entry)) return undefined
    return await readers.get(kind)?.(entry, { ...place, index, names: names.get(kind) ?? new Set() })
  }
}
