import { isRecord, numberText, visible, writeJson } from '@toolyard/contract/terms'

/** One argument, as it is and as it was before; empty where there is none. */
interface ArgumentChange {
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

/** Names as JSON has them, without their quotes: what looks the same is the same. */
function fieldsOf (args: unknown): Map<string, string> {
  if (!isRecord(args)) return new Map([['', visible(writeJson(args))]])
  return new Map(Object.entries(args).map(([name, value]) => (
    [visible(JSON.stringify(name)).slice(1, -1), visible(numberText(args, name) ?? writeJson(value))]
  )))
}
