import { isRecord } from '@toolyard/contract/terms'
import type { JsonSchema } from '../tool/tool.ts'
import { isRecursive, withDefinitions } from './references.ts'
import { strictExcess } from './strict-size.ts'
import { strictFormats, strictKeywords, strictRules, type StrictRules } from './strict-limits.ts'

/** The strict form of a schema, or why it has none: a half sentence. */
type StrictForm = { schema: JsonSchema } | { refused: string }

/** Ends the making of a strict form. */
class NotStrict extends Error {}

/**
 * A schema as strict mode takes it: every object is closed; in that of OpenAI every property is required, and one that was
 * optional may be null instead. Keywords that strict mode doesn't know are left out when they only narrow, since
 * arguments are checked here against the schema itself. The schema is not changed.
 */
export function strictForm (written: JsonSchema, rules: StrictRules = strictRules.openai): StrictForm {
  try {
    const schema = withDefinitions(written, new Set())
    if ('anyOf' in schema || 'oneOf' in schema || '$ref' in schema) throw new NotStrict('the schema itself must be an object, without anyOf, oneOf or $ref')
    if (!rules.takesRecursion && isRecursive(schema)) throw new NotStrict('the schema refers to itself')
    const strict = { ...strictObject(schema, { place: '', rules }), ...schema['description'] !== undefined && { description: schema['description'] } }
    const excess = strictExcess(strict)
    return excess === undefined ? { schema: strict } : { refused: excess }
  } catch (error) {
    if (error instanceof NotStrict) return { refused: error.message }
    throw error
  }
}

/** Where a schema stands, as a pointer; the whole one has none. */
interface At {
  place: string
  rules: StrictRules
}

function strictSchema (schema: unknown, at: At): JsonSchema {
  const { place, rules: { dropped } } = at
  if (!isRecord(schema)) throw new NotStrict(`${shown(place)} has no type`)
  checkKeywords(schema, at)
  const choices = schema['anyOf'] ?? schema['oneOf']
  if ('$ref' in schema) return { $ref: schema['$ref'] }
  if (Array.isArray(choices)) {
    if ('properties' in schema || 'type' in schema) throw new NotStrict(`${shown(place)} has a type beside its choices`)
    return { ...annotations(schema), anyOf: choices.map((choice, index) => strictSchema(choice, within(at, index))) }
  }
  const types = typesOf(schema, place)
  if (types.includes('object')) return { ...strictObject(schema, at), ...annotations(schema), type: schema['type'] ?? 'object' }
  const kept = Object.fromEntries(Object.entries(schema).filter(([keyword, value]) => !dropped.has(keyword) && (keyword !== 'format' || strictFormats.has(value))))
  return { ...kept, type: types.length === 1 ? types[0] : types, ...types.includes('array') && { items: strictSchema(schema['items'], within(at, 'items')) } }
}

function strictObject (schema: JsonSchema, at: At): JsonSchema {
  const { place, rules: { keepsOptional } } = at
  checkKeywords(schema, at)
  const { properties = {}, required = [], additionalProperties: others } = schema
  if (!isRecord(properties) || !Array.isArray(required)) throw new NotStrict(`${shown(place)} has no properties`)
  const names = Object.keys(properties)
  if (isRecord(others) || others === true || (names.length === 0 && place !== '' && others !== false)) throw new NotStrict(`${shown(place)} may have properties of any name`)
  const needed = new Set<unknown>(required)
  const stray: unknown = required.find(name => typeof name !== 'string' || !Object.hasOwn(properties, name))
  if (stray !== undefined) throw new NotStrict(`${shown(place)} requires ${JSON.stringify(stray)}, which is none of its properties`)
  const definitions = ['$defs', 'definitions'].filter(keyword => isRecord(schema[keyword]))
  return {
    type: 'object',
    properties: Object.fromEntries(names.map(name => {
      const strict = strictSchema(properties[name], within(at, name))
      return [name, keepsOptional || needed.has(name) ? strict : nullable(strict)]
    })),
    required: keepsOptional ? names.filter(name => needed.has(name)) : names,
    additionalProperties: false,
    ...Object.fromEntries(definitions.map(keyword => [keyword, strictMembers(schema[keyword], within({ ...at, place: '' }, keyword))]))
  }
}

function strictMembers (schemas: unknown, at: At): Record<string, JsonSchema> {
  return Object.fromEntries(Object.entries(schemas ?? {}).map(([name, schema]) => [name, strictSchema(schema, within(at, name))]))
}

function checkKeywords (schema: JsonSchema, { place, rules: { dropped } }: At): void {
  const unknown = Object.keys(schema).find(keyword => !strictKeywords.has(keyword) && !dropped.has(keyword) && !keyword.startsWith('x-'))
  if (unknown !== undefined) throw new NotStrict(`${shown(place)} uses ${unknown}`)
  if ('$ref' in schema && Object.keys(schema).some(keyword => keyword !== '$ref' && keyword !== 'description')) throw new NotStrict(`${shown(place)} has keywords beside $ref`)
}

/** Strict mode wants a type; one that follows from the rest of the schema is written down. */
function typesOf (schema: JsonSchema, place: string): string[] {
  const { type } = schema
  if (typeof type === 'string') return [type]
  if (Array.isArray(type)) return type.map(String)
  if ('properties' in schema) return ['object']
  if ('items' in schema) return ['array']
  const values: unknown[] = Array.isArray(schema['enum']) ? schema['enum'] : 'const' in schema ? [schema['const']] : []
  const kinds = [...new Set(values.map(value => value === null ? 'null' : typeof value))]
  if (kinds.length === 0 || kinds.includes('object')) throw new NotStrict(`${shown(place)} has no type`)
  return kinds
}

function nullable (schema: JsonSchema): JsonSchema {
  const { type, anyOf, enum: values } = schema
  if (Array.isArray(anyOf)) return anyOf.some(part => isRecord(part) && part['type'] === 'null') ? schema : { ...schema, anyOf: [...anyOf as unknown[], { type: 'null' }] }
  if ('$ref' in schema || 'const' in schema) return { anyOf: [schema, { type: 'null' }] }
  const types = [type].flat()
  return {
    ...schema,
    type: types.includes('null') ? type : [...types, 'null'],
    ...Array.isArray(values) && !values.includes(null) && { enum: [...values as unknown[], null] }
  }
}

function annotations ({ title, description }: JsonSchema): JsonSchema {
  return { ...title !== undefined && { title }, ...description !== undefined && { description } }
}

function within (at: At, name: string | number): At {
  return { ...at, place: `${at.place}/${name}` }
}

function shown (place: string): string {
  return place === '' ? 'the schema' : place
}
