import { isRecord } from '@toolyard/contract/terms'
import type { KindPlace, KindReading } from '../layer/entry-kind.ts'
import { readHttpEntry } from './http/entry.ts'
import { readMcpEntry } from './mcp/entry.ts'
import { readSkillEntry } from './skill/entry.ts'

/** Kinds of entries that hold something else than a command, by the field that tells them. */
const readers: Readonly<Record<string, (entry: Record<string, unknown>, place: KindPlace) => Promise<KindReading>>> = {
  http: readHttpEntry,
  mcp: readMcpEntry,
  skill: readSkillEntry
}

/** The kind of an entry that isn't a command; undefined for all others, which the format's own rules judge. */
export function entryKind (entry: unknown): string | undefined {
  if (!isRecord(entry) || Object.hasOwn(entry, 'command')) return undefined
  return Object.keys(readers).find(kind => Object.hasOwn(entry, kind) && entry[kind] !== null)
}

/** Makes the reader of the entries of one manifest that have a kind of their own. It gives undefined for commands. */
export function kindReader (place: Omit<KindPlace, 'index' | 'names'>): (entry: unknown, index: number) => Promise<KindReading | undefined> {
  const names = new Map(Object.keys(readers).map(kind => [kind, new Set<string>()]))
  return async (entry, index) => {
    const kind = entryKind(entry)
    if (kind === undefined || !isRecord(entry)) return undefined
    return await readers[kind]?.(entry, { ...place, index, names: names.get(kind) ?? new Set() })
  }
}
