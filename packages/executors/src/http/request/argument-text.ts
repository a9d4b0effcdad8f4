import { WrittenNumber } from '@toolyard/contract/terms'
import { RequestFault } from './request-fault.ts'

/** Values of one argument in a URL, a header or a form. Servers take far fewer there, and each is encoded by itself. */
const mostValues = 10_000

/** An argument of a call by its own name; undefined when it is missing or null, which counts as missing. */
export function argumentOf (args: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(args, name) ? args[name] ?? undefined : undefined
}

/**
 * A single value as text, or a list of them with commas between.
 *
 * @param write makes what is sent of each value of the list.
 * @throws RequestFault for an object, which has no text.
 */
export function argumentText (value: unknown, name: string, write: (text: string) => string = text => text): string {
  requireFewValues(value, name)
  return Array.isArray(value) ? value.map(item => write(textOf(item, name))).join(',') : write(textOf(value, name))
}

function textOf (value: unknown, name: string): string {
  if (Array.isArray(value)) return value.map(item => textOf(item, name)).join(',')
  if (typeof value === 'string') return value
  if (value instanceof WrittenNumber) return value.text
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw invalid(name, 'must be a text, a number, true, false, or a list of these')
}

/** @throws RequestFault for what holds more values than a URL, a header or a form takes. */
export function requireFewValues (value: unknown, name: string): void {
  let left = mostValues
  const containers: unknown[] = [value]
  for (let container = containers.pop(); container !== undefined; container = containers.pop()) {
    if (typeof container !== 'object' || container === null) continue
    // The names of a long list's places would take longer than the rest.
    const items: unknown[] = Array.isArray(container) ? container : Object.values(container)
    left -= items.length
    if (left < 0) throw invalid(name, `holds more than ${mostValues} values: send them in a JSON body, or in several calls`)
    for (const item of items) if (typeof item === 'object' && item !== null) containers.push(item)
  }
}

/** Percent-encoded for a URL, with nothing left that could mean something there. @throws RequestFault for half a surrogate pair. */
export function encoded (text: string, name: string): string {
  if (hasLoneSurrogate(text)) throw invalid(name, 'holds half a surrogate pair, which no URL can carry')
  return encodeURIComponent(text)
}

/** An argument that can't be sent where the request has it. */
export function invalid (name: string, says: string): RequestFault {
  return new RequestFault('INVALID_ARGUMENTS', `Arguments do not fit the request: /${name} ${says}`, { issues: [{ path: `/${name}`, message: says }] })
}

/** Whether a text holds half a surrogate pair, which UTF-8 doesn't have. */
function hasLoneSurrogate (text: string): boolean {
  return /\p{Surrogate}/u.test(text)
}
