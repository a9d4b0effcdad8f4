import { isRecord, writeJson } from '@toolyard/contract/terms'
import { visible } from './visible.ts'

/** One argument, as it is and as it was before; empty where there is none. */
export interface ArgumentChange {
  name: string
  now: string
  before: string
  isChanged: boolean
}

/** Arguments beside those of an earlier call: what changed first. */
export function changesOf (now: unknown, before: unknown): ArgumentChange[] {
  const [newer, older] = [fieldsOf(now), fieldsOf(before)]
  const names = [...new Set([...newer.keys(), ...older.keys()])]
  const changes = names.map(name => {
    const [value = '', known = ''] = [newer.get(name), older.get(name)]
    return { name, now: value, before: known, isChanged: value !== known }
  })
  return [...changes.filter(({ isChanged }) => isChanged), ...changes.filter(({ isChanged }) => !isChanged)]
}

function fieldsOf (args: unknown): Map<string, string> {
  return new Map(isRecord(args) ? Object.entries(args).map(([name, value]) => [visible(name), visible(writeJson(value))]) : [['', visible(writeJson(args))]])
}
