import type { HttpRun } from '@toolyard/manifests'
import { argumentOf, argumentText, encoded, invalid } from './argument-text.ts'

/** What has no place in a path: control characters, which servers read as they like. */
// eslint-disable-next-line no-control-regex
const control = /[\u0000-\u001f\u007f]/

/**
 * The path with its arguments. Each is a part of its segment, whatever it contains: it adds none, takes
 * none away, and begins no query. Some servers decode `%2F` before they look at `..`, so an argument holds no such step
 * either.
 *
 * @throws RequestFault for an argument that is missing, empty, or can't be a part of one segment.
 */
export function expandPath (path: HttpRun['path'], args: Readonly<Record<string, unknown>>): string {
  const expanded = path.map(part => typeof part === 'string' ? part : segmentPart(part.argument, args)).join('')
  const [blamed = ''] = path.flatMap(part => typeof part === 'string' ? [] : [part.argument])
  // The parser of URLs takes away what it reads as `.` and `..`, in every spelling.
  if (new URL(`http://host${expanded}`).pathname !== expanded) throw invalid(blamed, 'makes a step such as .. of a part of the path')
  return expanded
}

function segmentPart (name: string, args: Readonly<Record<string, unknown>>): string {
  const value = argumentOf(args, name)
  if (value === undefined) throw invalid(name, 'is missing: it is a part of the path')
  const text = argumentText(value, name)
  if (text === '') throw invalid(name, 'is empty: it is a part of the path')
  if (control.test(text)) throw invalid(name, 'holds a control character, which has no place in a path')
  if (text.split(/[/\\]/).some(step => step === '.' || step === '..')) throw invalid(name, 'holds a step such as .. of a path')
  return encoded(text, name)
}
