import { isRecord, lostText } from '@toolyard/contract/terms'
import type { ToolFormat } from '@toolyard/contract'
import { dataKeywords, mapKeywords } from '../schema/form/subschemas.ts'
import { providerNames } from '../schema/provider-names.ts'
import { losesDigits } from '../schema/survey.ts'
import type { JsonSchema } from '../tool/tool.ts'
import { flatSchema } from './flat-schema.ts'
import { withObjectProperties } from './object-properties.ts'
import { withDefinitions, writtenOut } from './references.ts'
import { withStaticReferences } from './static-references.ts'

/** A schema as a provider takes it, and what was changed, as ends of a sentence. */
interface ProviderSchema {
  schema: JsonSchema
  changes: string[]
}

/**
 * Mends what a provider would refuse a whole request for. What is left out only narrows: calls are checked against the
 * schema as it was written, and names that were changed are changed back (`withWrittenNames`). The schema is not changed.
 */
export function providerSchema (whole: JsonSchema, format: ToolFormat): ProviderSchema {
  const written = bareFor[format] === undefined ? whole : withoutIdentity(whole)
  const changes = new Set<string>()
  const plain = withStaticReferences(written, changes)
  const flat = flatSchema(format === 'gemini' ? writtenOut(plain, changes) : withDefinitions(plain, changes), changes)
  const names = namesFor[format] === undefined ? new Map<string, string>() : providerNames(whole)
  for (const [name, sent] of names) changes.add(`the property ${JSON.stringify(name)} is called ${JSON.stringify(sent)}`)
  const schema = rootObject(mended(flat, { names, isGemini: format === 'gemini', changes }), changes)
  return { schema: changes.size === 0 ? written : schema, changes: [...changes] }
}

/** Which providers take only some names of properties: Anthropic, whose models Bedrock has. */
const namesFor: Partial<Record<ToolFormat, true>> = { anthropic: true, bedrock: true }

/** Which providers don't know the keywords that say of which draft a schema is, and its name. They mean nothing to a model. */
const bareFor: Partial<Record<ToolFormat, true>> = { gemini: true, bedrock: true }

function withoutIdentity (schema: JsonSchema): JsonSchema {
  if (!('$schema' in schema) && !('$id' in schema)) return schema
  const { $schema: _, $id: __, ...rest } = schema
  return rest
}

interface Mending {
  names: ReadonlyMap<string, string>
  isGemini: boolean
  changes: Set<string>
}

/** Arguments are an object, and its properties are named, even if there are none. */
function rootObject (schema: JsonSchema, changes: Set<string>): JsonSchema {
  const { type, properties } = schema
  if (type !== 'object') changes.add('the type is "object"')
  if (!isRecord(properties)) changes.add('an empty "properties" is added')
  return { ...schema, type: 'object', properties: isRecord(properties) ? properties : {} }
}

function mended (schema: JsonSchema, mending: Mending): JsonSchema {
  const { names, isGemini, changes } = mending
  const entries = Object.entries(schema).flatMap(([keyword, value]): Array<[string, unknown]> => {
    if (keyword === 'pattern' && typeof value === 'string' && !isCommonPattern(value)) {
      changes.add(`the pattern ${shown(value)} is left out`)
      return []
    }
    // A model would send the rounded number.
    if (keyword === 'default' && losesDigits(schema, keyword)) {
      changes.add(`the default ${lostText(schema, keyword) ?? shown(JSON.stringify(value))} is left out: it has more digits than are kept`)
      return []
    }
    // Gemini reads no "const", by which models tell choices apart.
    if (keyword === 'const' && isGemini && typeof value === 'string') {
      changes.add('a "const" is written as an "enum" of one value')
      return [['type', 'string'], ['enum', [value]]]
    }
    if (keyword === 'required') return [[keyword, renamedList(value, names)]]
    if (keyword === 'dependentRequired' && isRecord(value)) {
      const lists = Object.entries(value).map(([name, list]) => [names.get(name) ?? name, renamedList(list, names)] as const)
      return [[keyword, Object.fromEntries(lists)]]
    }
    if (dataKeywords.has(keyword)) return [[keyword, value]]
    if (!mapKeywords.has(keyword) || !isRecord(value)) return [[keyword, within(value, mending)]]
    return [[keyword, mendedMap(keyword, value, mending)]]
  })
  return withObjects(withRequired(withItems(Object.fromEntries(entries), changes), changes), changes)
}

function withObjects (schema: JsonSchema, changes: Set<string>): JsonSchema {
  const found = withObjectProperties(schema)
  if (found !== schema) changes.add('a property that is true or false is written as an object')
  return found
}

function mendedMap (keyword: string, map: JsonSchema, mending: Mending): JsonSchema {
  const isNamed = ['properties', 'dependentSchemas', 'dependencies'].includes(keyword)
  return Object.fromEntries(Object.entries(map).flatMap(([name, schema]) => {
    if (keyword === 'patternProperties' && !isCommonPattern(name)) {
      mending.changes.add(`the properties of the pattern ${shown(name)} are left out`)
      return []
    }
    return [[isNamed ? mending.names.get(name) ?? name : name, within(schema, mending)]]
  }))
}

function within (value: unknown, mending: Mending): unknown {
  if (Array.isArray(value)) return value.map(item => within(item, mending))
  return isRecord(value) ? mended(value, mending) : value
}

/** A list must say what it holds, and in one schema for all. */
function withItems (schema: JsonSchema, changes: Set<string>): JsonSchema {
  const { items, additionalItems, ...rest } = schema
  if (Array.isArray(items)) {
    changes.add('a list of "items" is called "prefixItems"')
    return { ...rest, prefixItems: items, items: isRecord(additionalItems) ? additionalItems : {} }
  }
  if (items !== undefined || ![schema['type']].flat().includes('array')) return schema
  changes.add('an empty "items" is added to lists')
  return { ...schema, items: {} }
}

/** Gemini refuses a name of `required` that is no property. What a schema is put together of may have it. */
function withRequired (schema: JsonSchema, changes: Set<string>): JsonSchema {
  const { type, required, properties } = schema
  if (!Array.isArray(required) || type !== 'object' || ['$ref', 'allOf', 'anyOf', 'oneOf'].some(keyword => keyword in schema)) return schema
  const known = isRecord(properties) ? properties : {}
  const missing = required.filter((name: unknown): name is string => typeof name === 'string' && !Object.hasOwn(known, name))
  if (missing.length === 0) return schema
  changes.add(`required properties that are not described are added: ${shown(missing.join(', '))}`)
  return { ...schema, properties: { ...known, ...Object.fromEntries(missing.map(name => [name, {}])) } }
}

function renamedList (list: unknown, names: ReadonlyMap<string, string>): unknown {
  return Array.isArray(list) ? list.map((name: unknown) => typeof name === 'string' ? names.get(name) ?? name : name) : list
}

/** Every engine of providers takes it: no Unicode properties, and no groups but plain ones. */
function isCommonPattern (pattern: string): boolean {
  return !/(?<!\\)(?:\\\\)*(?:\\[pP]\{|\\k<|\(\?(?!:))/.test(pattern)
}

function shown (pattern: string): string {
  return JSON.stringify(pattern.length > 80 ? `${pattern.slice(0, 80)}...` : pattern)
}
