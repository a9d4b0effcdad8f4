import type { TSchema } from 'typebox'
import { Check, Errors } from 'typebox/schema'
import { isRecord, pointerName } from '@toolyard/contract/terms'
import { placeOf } from '../document/place.ts'
import type { DocumentPath } from '../finding/finding.ts'
import type { Remark } from '../finding/finding-list.ts'

/** Wrong fields of one entry that are named. */
const most = 20

/** Where an entry stands, and what says how it must be. */
interface KindRules {
  path: DocumentPath
  rule: string
  page: string
}

/** Checks one entry by the definition of its kind; `path` is where it stands. */
export function wrongFields (definition: TSchema, entry: Record<string, unknown>, { path, rule, page }: KindRules): Remark[] {
  if (Check(definition, entry)) return []
  const places = new Map<string, string>()
  const types = new Map<string, string[]>()
  const all = Errors(definition, entry)[1]
  // A field that isn't known has an error of its own beside that of its object.
  const own = all.filter(({ keyword }) => keyword !== 'additionalProperties')
  for (const { instancePath, keyword, params, message } of own.length === 0 ? all : own) {
    const missing = keyword === 'required' ? (params as { requiredProperties?: string[] }).requiredProperties?.[0] : undefined
    const at = missing === undefined ? instancePath : `${instancePath}/${missing}`
    if (!places.has(at)) places.set(at, missing !== undefined ? 'is missing' : textOf(keyword, params, message))
    if (keyword === 'type') types.set(at, [...new Set([...types.get(at) ?? [], ...[params.type].flat()])])
  }
  // A field of several forms fits none of their types, or the one form whose items are told of.
  for (const [at, wanted] of types) {
    if ([...places.keys()].some(place => place.startsWith(`${at}/`))) places.delete(at)
    else if (wanted.length > 1) places.set(at, `must be ${wanted.join(' or ')}`)
  }
  return [...places].slice(0, most).map(([at, says]) => {
    const steps = at.split('/').slice(1).map(step => /^\d+$/.test(step) ? Number(step) : pointerName(step))
    return { severity: 'error', rule, path: [...path, ...steps], message: `${placeOf(steps)} ${says}`, fix: `Correct it; ${page} has all fields.` }
  })
}

/** The validator's own words for these tell nothing to who writes a manifest. */
function textOf (keyword: string, params: object, message: string): string {
  const { allowedValues, allowedValue }: { allowedValues?: unknown, allowedValue?: unknown } = params
  if (keyword === 'enum' && Array.isArray(allowedValues)) return `must be one of ${allowedValues.map(String).join(', ')}`
  if (keyword === 'const') return `must be ${JSON.stringify(allowedValue)}, or another form that the page has`
  return keyword === 'boolean' ? 'is no field that is known here' : message
}

/** As everywhere in this format, null is the same as absent: in the entry, and in the field that its kind is told by. */
export function withoutNulls (entry: Record<string, unknown>, kind: string): Record<string, unknown> {
  const written = (object: Record<string, unknown>): Record<string, unknown> =>
    Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null))
  const inner = entry[kind]
  return written(isRecord(inner) ? { ...entry, [kind]: written(inner) } : entry)
}
