import { setWritten, type Written } from '@toolyard/contract/terms'

/*
 * Integers of YAML, which are read as BigInts: those that JavaScript writes as they were become numbers, the others numbers that also know
 * their digits. Aliases make what was read a graph: each object in it is changed once, in place.
 */

/** The value without small BigInts, and whether any is left: one whose digits would be lost. */
export function withoutSmallBigInts (value: unknown): { value: unknown, large: boolean } {
  let large = false
  const number = (item: bigint): unknown => {
    // JavaScript writes fewer digits of what it holds exactly: 725653563933458432 is written as 725653563933458400.
    const near = Number(item)
    if (Number.isSafeInteger(near) || String(near) === String(item)) return near
    large = true
    return item
  }
  if (typeof value === 'bigint') return { value: number(value), large }
  const seen = new Set<unknown>([value])
  for (const container of seen) {
    if (typeof container !== 'object' || container === null) continue
    for (const [name, item] of Object.entries(container)) {
      if (typeof item === 'bigint') Reflect.set(container, name, number(item))
      else seen.add(item)
    }
  }
  return { value, large }
}

/** The value with numbers in place of its BigInts, whose digits are noted. It must not be nested without bound, nor in itself. */
export function withDigits (value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value)
  note(value, new Map())
  return value
}

/** Whether a value holds an integer whose digits are noted. */
function note (value: unknown, known: Map<unknown, boolean>): boolean {
  if (typeof value !== 'object' || value === null) return false
  const before = known.get(value)
  if (before !== undefined) return before
  const how: Written = {}
  let holds = false
  for (const [name, item] of Object.entries(value)) {
    if (typeof item !== 'bigint') {
      if (note(item, known)) holds = true
      continue
    }
    holds = true
    Reflect.set(value, name, Number(item))
    if (Array.isArray(value)) (how.items ??= new Array(value.length))[Number(name)] = String(item)
    else (how.fields ??= new Map()).set(name, String(item))
  }
  if (holds) setWritten(value, how)
  known.set(value, holds)
  return holds
}
