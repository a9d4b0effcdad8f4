import { firstChars, isRecord, WrittenNumber } from '@toolyard/contract/terms'
import { BuiltinFailure } from '../kit/handler.ts'

/** The one of two names of a field that is there; undefined for null and for none. */
export function field (value: Record<string, unknown>, names: readonly string[], at: string): unknown {
  const there = names.filter(name => value[name] !== undefined && value[name] !== null)
  if (there.length > 1) throw new BuiltinFailure(`${at} has both '${there.join("' and '")}'; they mean the same`)
  return value[there[0] ?? '']
}

/** A field that is a text with something in it; undefined when it isn't there. */
export function text (value: Record<string, unknown>, fields: readonly string[], at: string): string | undefined {
  const found = field(value, fields, at)
  if (found === undefined) return undefined
  if (typeof found !== 'string' || found.trim() === '') throw new BuiltinFailure(`${at}.${fields[0]} must be a text`)
  return found
}

/** A whole number within bounds; undefined when it isn't there. */
export function whole (
  value: Record<string, unknown>, name: string, { min, max }: { min: number, max: number }, at: string
): number | undefined {
  const found = field(value, [name], at)
  if (found === undefined) return undefined
  if (typeof found !== 'number' || !Number.isInteger(found) || found < min || found > max) throw new BuiltinFailure(`${at}.${name} must be a whole number from ${min} to ${max}`)
  return found
}

/** @throws BuiltinFailure for what is no map. */
export function record (value: unknown, at: string): Record<string, unknown> {
  if (!isRecord(value) || value instanceof WrittenNumber) throw new BuiltinFailure(`${at} must be a map`)
  return value
}

/** An unknown field is a spelling mistake, which would have no effect. */
export function refuseUnknown (value: Record<string, unknown>, known: readonly string[], at: string): void {
  const unknown = Object.keys(value).find(key => !known.includes(key))
  if (unknown !== undefined) throw new BuiltinFailure(`${at}.${firstChars(unknown, 80)} is no known field (known: ${known.join(', ')})`)
}

/** The first name that stands a second time; a file has room for thousands. */
export function repeated (names: readonly string[]): string | undefined {
  const seen = new Set<string>()
  return names.find(name => seen.size === seen.add(name).size)
}
