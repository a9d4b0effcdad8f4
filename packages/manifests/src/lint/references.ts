import { freeName, isRecord, pointerName, pointerTarget } from '@toolyard/contract/terms'
import { subschemasOf, withAllSubschemas, withSubschemas } from '../schema/form/subschemas.ts'
import type { JsonSchema } from '../tool/tool.ts'

/** Characters of what stands in more than one place after all, and how often: references to references would make it without bound. */
const mostCopied = { chars: 300_000, times: 500 }
/** References within what references lead to. */
const mostLevels = 32
const shortChars = 200
const definition = /^#\/(?:\$defs|definitions)\/[^/]+$/

/**
 * A schema whose references lead to definitions, also those that led to another place of it: the rest may be moved then. The schema is
 * not changed.
 *
 * @param changes takes what was changed, as ends of a sentence.
 */
export function withDefinitions (schema: JsonSchema, changes: Set<string>): JsonSchema {
  const elsewhere = referencesOf(schema).filter(reference => reference !== '#' && !definition.test(reference))
  if (elsewhere.length === 0) return schema
  changes.add('what references lead to is a definition')
  const known = isRecord(schema['$defs']) ? schema['$defs'] : {}
  const taken = new Set(Object.keys(known))
  const names = new Map<string, string>()
  const targets = new Map<string, JsonSchema>()
  const room = new CopyRoom()
  for (const reference of elsewhere) {
    const target = pointerTarget(schema, reference)
    if (!isRecord(target) || !room.takes(target)) continue
    const name = freeName(plainName(reference), taken)
    names.set(reference, name)
    targets.set(name, target)
  }
  const led = (node: JsonSchema): JsonSchema => {
    const { $ref: reference, ...rest } = node
    if (typeof reference !== 'string' || reference === '#' || definition.test(reference)) return node
    const name = names.get(reference)
    return name === undefined ? rest : { $ref: `#/$defs/${name}`, ...rest }
  }
  const whole = withAllSubschemas(schema, led)
  const own = isRecord(whole['$defs']) ? whole['$defs'] : {}
  const added = [...targets].map(([name, target]) => [name, withAllSubschemas(target, led)] as const)
  return { ...whole, $defs: { ...own, ...Object.fromEntries(added) } }
}

/**
 * A schema with what its references and each `allOf` stand for in their places. Gemini refuses a reference that leads to no definition,
 * one with keywords beside it, and one that leads to itself: of such a one is left of which type it is. It reads no `allOf`. The schema
 * is not changed.
 */
export function writtenOut (schema: JsonSchema, changes: Set<string>): JsonSchema {
  if (referencesOf(schema).length > 0) changes.add('what references lead to is written in their places')
  else if (!subschemasOf(schema).some(({ node }) => 'allOf' in node)) return schema
  else changes.add('what "allOf" has is written beside each other')
  const room = new CopyRoom()
  const within = (node: JsonSchema, open: readonly unknown[]): JsonSchema => together(withSubschemas(node, each => inlined(each, open)))
  const inlined = (node: JsonSchema, open: readonly unknown[]): JsonSchema => {
    const { $ref: reference, $defs: _, definitions: __, ...rest } = node
    const target = typeof reference === 'string' ? pointerTarget(schema, reference) : undefined
    if (!isRecord(target)) return within(rest, open)
    const isWithinItself = open.includes(target) || target === schema || open.length > mostLevels
    const inPlace = isWithinItself || !room.takes(target) ? outline(target) : inlined(target, [...open, target])
    return { ...inPlace, ...within(rest, open) }
  }
  return inlined(schema, [])
}

/** Whether a reference leads to what it stands in. */
export function isRecursive (schema: JsonSchema): boolean {
  const open = new Set<unknown>()
  const ended = new Set<unknown>()
  const leadsBack = (node: JsonSchema): boolean => {
    if (open.has(node) || ended.has(node)) return open.has(node)
    open.add(node)
    const found = referencesOf(node).some(reference => {
      const target = pointerTarget(schema, reference)
      return isRecord(target) && leadsBack(target)
    })
    open.delete(node)
    ended.add(node)
    return found
  }
  return leadsBack(schema)
}

/** What is said of a schema that isn't written out: short texts alone, since any number of references may lead to it. */
function outline (schema: JsonSchema): JsonSchema {
  const isShown = (value: unknown): boolean => typeof value === 'string' && value.length <= shortChars
  return {
    ...'type' in schema && { type: schema['type'] },
    ...Object.fromEntries(['title', 'description'].filter(keyword => isShown(schema[keyword])).map(keyword => [keyword, schema[keyword]]))
  }
}

/** What is left for further copies. */
class CopyRoom {
  readonly #sizes = new Map<object, number>()
  #chars: number = mostCopied.chars
  #times: number = mostCopied.times

  takes (schema: JsonSchema): boolean {
    if (this.#chars < 0 || this.#times < 0) return false
    const chars = this.#sizes.get(schema) ?? JSON.stringify(schema).length
    this.#sizes.set(schema, chars)
    this.#chars -= chars
    this.#times -= 1
    return this.#chars >= 0
  }
}

/** Without `allOf`: what it has stands beside the rest, which wins. */
function together ({ allOf, ...rest }: JsonSchema): JsonSchema {
  if (!Array.isArray(allOf)) return rest
  const parts = [rest, ...allOf.filter(isRecord)]
  const required = [...new Set(parts.flatMap(part => Array.isArray(part['required']) ? part['required'] as unknown[] : []))]
  const properties = parts.map(part => part['properties']).filter(isRecord)
  // It closes what it stands in, which has the properties of all now.
  const { additionalProperties: _, ...joined } = firstOfEach(parts)
  return {
    ...joined,
    ...required.length > 0 && { required },
    ...properties.length > 0 && { properties: firstOfEach(properties) }
  }
}

function firstOfEach (objects: readonly JsonSchema[]): JsonSchema {
  const found = new Map<string, unknown>()
  for (const [name, value] of objects.flatMap(each => Object.entries(each))) if (!found.has(name)) found.set(name, value)
  return Object.fromEntries(found)
}

function referencesOf (schema: JsonSchema): string[] {
  return [...new Set(subschemasOf(schema).map(({ node }) => node['$ref']).filter(reference => typeof reference === 'string'))]
}

function plainName (reference: string): string {
  return pointerName(reference.split('/').at(-1) ?? '').replace(/[^a-zA-Z0-9_]+/g, '_').slice(0, 60) || 'definition'
}
