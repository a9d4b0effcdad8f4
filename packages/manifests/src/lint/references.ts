import { freeName, isRecord, pointerName, pointerTarget } from '@toolyard/contract/terms'
import { subschemasOf, withAllSubschemas, withSubschemas } from '../schema/form/subschemas.ts'
import type { JsonSchema } from '../tool/tool.ts'

/** Subschemas that stand in more than one place after all: references to references would make them without bound. */
const mostCopied = 2_000
/** References within what references lead to. */
const mostLevels = 32
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
  let copied = 0
  for (const reference of elsewhere) {
    const target = pointerTarget(schema, reference)
    if (names.has(reference) || !isRecord(target)) continue
    copied += subschemasOf(target).length
    if (copied > mostCopied) break
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
  let copied = 0
  const within = (node: JsonSchema, open: readonly unknown[]): JsonSchema => together(withSubschemas(node, each => inlined(each, open)))
  const inlined = (node: JsonSchema, open: readonly unknown[]): JsonSchema => {
    const { $ref: reference, $defs: _, definitions: __, ...rest } = node
    if (open.length > 0) copied += 1
    const target = typeof reference === 'string' ? pointerTarget(schema, reference) : undefined
    if (!isRecord(target)) return within(rest, open)
    const isLeftOut = open.includes(target) || target === schema || open.length > mostLevels || copied > mostCopied
    return { ...isLeftOut ? outline(target) : inlined(target, [...open, target]), ...within(rest, open) }
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

/** What is said of a schema that isn't written out. */
function outline (schema: JsonSchema): JsonSchema {
  return Object.fromEntries(['type', 'title', 'description'].filter(keyword => keyword in schema).map(keyword => [keyword, schema[keyword]]))
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
