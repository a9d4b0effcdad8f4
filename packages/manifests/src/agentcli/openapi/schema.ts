import { isRecord, lostText, writtenLike } from '@toolyard/contract/terms'
import { withExclusiveBounds } from '../../schema/form/older-draft.ts'
import { withSubschemas } from '../../schema/form/subschemas.ts'
import { losesDigits } from '../../schema/survey.ts'
import type { JsonSchema } from '../../tool/tool.ts'
import { OpenapiFault, pointed, text20, type OpenapiDocument } from './document.ts'
import { withUsableEnum } from './usable-enum.ts'

/** Subschemas of one tool: more is nothing that a model fills. */
const mostNodes = 2_000

const kept = new Set([
  'title', 'description', 'type', 'enum', 'const', 'default', 'required', 'pattern', 'minLength', 'maxLength', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum',
  'multipleOf', 'minItems', 'maxItems', 'uniqueItems', 'minProperties', 'maxProperties'
])
/** Lists in which people write a value twice. */
const lists = new Set(['enum', 'required', 'type'])
const single = new Set(['items', 'additionalProperties', 'not', 'contains', 'propertyNames'])
const several = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems'])
/** Formats that arguments are checked by; others say nothing. */
const formats = new Set(['date', 'time', 'date-time', 'duration', 'uri', 'uri-reference', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid', 'int32', 'int64', 'float', 'double'])

/** What stands beside a keyword. */
interface Beside { hasPatterns: boolean, hasAnyOf: boolean }

/** Makes JSON Schemas of the schemas of one operation. */
export class SchemaConverter {
  readonly #document: OpenapiDocument
  readonly #patterns: boolean
  /** Parts of the document that are left out. */
  readonly notes = new Set<string>()
  /** Names of fields of answers, which some part of the operation may require all the same. */
  readonly #answerFields = new Set<string>()
  #nodes = 0

  constructor (document: OpenapiDocument, { patterns }: { patterns: boolean }) {
    this.#document = document
    this.#patterns = patterns
  }

  /**
   * A schema without references, as it stands alone. Where it holds itself, anything may stand the second time.
   *
   * @throws OpenapiFault for one that is too large, or refers to nothing.
   */
  convert (schema: unknown): JsonSchema {
    return this.#withRequiredFields(this.#converted(schema, []))
  }

  /** @param isPart another schema extends it */
  #converted (schema: unknown, within: readonly string[], isPart = false): JsonSchema {
    if (!isRecord(schema)) return {}
    if (++this.#nodes > mostNodes) throw new OpenapiFault(`has a schema of more than ${mostNodes} parts`)
    const { $ref: reference, ...beside } = schema
    if (typeof reference === 'string') {
      if (within.includes(reference)) {
        this.notes.add(`its schema ${text20(reference.split('/').at(-1) ?? reference)} holds itself; the second one may be anything`)
        return {}
      }
      const target = pointed(this.#document.root, reference)
      const whole = isRecord(target) ? { ...target, ...this.#document.is30 ? {} : beside } : target
      return this.#converted(whole, [...within, reference], isPart)
    }
    const result: JsonSchema = {}
    for (const [keyword, value] of Object.entries(schema)) {
      if (keyword === 'default' && losesDigits(schema, keyword)) this.notes.add(`a default of ${text20(lostText(schema, keyword) ?? value)} is left out: it has more digits than are kept`)
      else this.#keyword([keyword, value], within, { hasPatterns: isRecord(schema['patternProperties']), hasAnyOf: 'anyOf' in schema }, result)
    }
    this.#kinds(schema, isPart, result)
    writtenLike(result, schema)
    return fromVersion30(schema, withMergedParts(withUsableEnum(result)))
  }

  /** A discriminator says by which text a choice is known. Where it has no choices, others extend the schema with fields of theirs. */
  #kinds ({ discriminator, oneOf, anyOf = oneOf }: Record<string, unknown>, isPart: boolean, result: JsonSchema): void {
    const { propertyName, mapping } = isRecord(discriminator) ? discriminator : {}
    if (typeof propertyName !== 'string') return
    const kinds = Object.entries(isRecord(mapping) ? mapping : {})
    if (!Array.isArray(anyOf)) {
      if (isPart) return
      result['additionalProperties'] ??= true
      this.notes.add(`has kinds by ${text20(propertyName)}, whose fields are not described: all may be sent`)
      return
    }
    const choices = anyOf as unknown[]
    const named = (at: number): string[] => {
      const reference = isRecord(choices[at]) ? String(choices[at]['$ref']) : ''
      return kinds.filter(([, target]) => target === reference || `#/components/schemas/${String(target)}` === reference).map(([kind]) => kind)
    }
    const { anyOf: converted } = result
    if (Array.isArray(converted)) result['anyOf'] = converted.filter(isRecord).map((choice, at) => withKind(choice, propertyName, named(at)))
  }

  /** Choices in documents overlap, and services take what fits several: a value may fit more than one of `oneOf`. */
  #keyword ([keyword, value]: [string, unknown], within: readonly string[], { hasPatterns, hasAnyOf }: Beside, result: JsonSchema): void {
    if (keyword === 'pattern' && !this.#patterns) return
    // What its patterns allow is not beside it.
    if (keyword === 'additionalProperties' && hasPatterns && !this.#patterns) return
    if (keyword === 'format') {
      if (formats.has(String(value))) result[keyword] = value
    } else if (kept.has(keyword)) result[keyword] = lists.has(keyword) && Array.isArray(value) ? onceEach(value) : value
    else if (single.has(keyword)) result[keyword] = typeof value === 'boolean' ? value : this.#converted(value, within)
    else if (several.has(keyword) && Array.isArray(value)) result[keyword === 'oneOf' && !hasAnyOf ? 'anyOf' : keyword] = value.map(each => this.#converted(each, within, keyword === 'allOf' && value.length > 1))
    else if (keyword === 'properties' && isRecord(value)) this.#properties(value, within, result)
    else if (keyword === 'patternProperties' && isRecord(value) && this.#patterns) result[keyword] = Object.fromEntries(Object.entries(value).map(([name, each]) => [name, this.#converted(each, within)]))
  }

  /** Properties of answers alone aren't asked for. */
  #properties (properties: Record<string, unknown>, within: readonly string[], result: JsonSchema): void {
    const entries = Object.entries(properties).filter(([name, property]) => {
      const isOfAnswers = this.#isReadOnly(property)
      if (isOfAnswers) this.#answerFields.add(name)
      return !isOfAnswers
    })
    result['properties'] = Object.fromEntries(entries.map(([name, property]) => [name, this.#converted(property, within)]))
  }

  /**
   * What an object requires and doesn't describe may be anything: it could not be sent else, and the API refuses requests without it.
   * Whether a field is of answers alone is known when all parts were read.
   */
  #withRequiredFields (schema: JsonSchema): JsonSchema {
    const result = withSubschemas(schema, each => this.#withRequiredFields(each))
    const { required, properties, ...rest } = result
    if (!Array.isArray(required) || !isRecord(properties)) return result
    const isDescribed = (name: string): boolean => Object.hasOwn(properties, name)
    const names = required.filter(name => typeof name === 'string').filter(name => isDescribed(name) || !this.#answerFields.has(name))
    const others = names.filter(name => !isDescribed(name))
    for (const name of others) this.notes.add(`requires ${text20(name)}, which is not described: anything may stand there`)
    const all = { ...properties, ...Object.fromEntries(others.map(name => [name, {}])) }
    return writtenLike({ ...rest, properties: all, ...names.length > 0 && { required: names } }, result)
  }

  /** Also by what it refers to, or by a part of it: version 3.0 has nothing beside a reference. */
  #isReadOnly (property: unknown, level = 0): boolean {
    if (!isRecord(property) || level > mostLevels) return false
    const { readOnly, $ref: reference, allOf } = property
    if (readOnly === true) return true
    const target = typeof reference === 'string' ? pointed(this.#document.root, reference) : undefined
    const parts: unknown[] = Array.isArray(allOf) ? allOf : []
    return [target, ...parts].some(part => this.#isReadOnly(part, level + 1))
  }
}

function withKind (choice: JsonSchema, name: string, kinds: readonly string[]): JsonSchema {
  const { properties } = choice
  if (kinds.length === 0 || !isRecord(properties)) return choice
  const { [name]: property = {} } = properties
  if (!isRecord(property) || (property['type'] ?? 'string') !== 'string' || 'enum' in property || 'const' in property) return choice
  return { ...choice, properties: { ...properties, [name]: { ...property, type: 'string', enum: kinds } } }
}

/** References and parts that are looked at. */
const mostLevels = 8

/** The schema of an object with fields of its own, and nothing beside them. */
export interface PlainObject extends JsonSchema {
  properties: Record<string, JsonSchema>
}

/** Whether a value of it can be an object, perhaps beside null. */
export function isObject (schema: JsonSchema): boolean {
  return 'properties' in schema || [schema['type']].flat().includes('object')
}

export function isPlainObject (schema: JsonSchema): schema is PlainObject {
  return isRecord(schema['properties']) && (schema['type'] === undefined || schema['type'] === 'object') && !['anyOf', 'oneOf', 'allOf', 'not'].some(keyword => keyword in schema)
}

/** Version 3.0 writes null and open bounds in a way of its own, which documents of version 3.1 still have. */
function fromVersion30 (schema: Record<string, unknown>, converted: JsonSchema): JsonSchema {
  const result = withExclusiveBounds(converted)
  if (schema['nullable'] !== true) return result
  if (typeof result['type'] === 'string') {
    result['type'] = [result['type'], 'null']
    if (Array.isArray(result['enum']) && !result['enum'].includes(null)) result['enum'] = [...result['enum'] as unknown[], null]
  }
  for (const keyword of ['anyOf', 'oneOf']) {
    const parts: unknown = result[keyword]
    if (Array.isArray(parts) && parts.every(part => isRecord(part) && typeof part['type'] === 'string' && part['type'] !== 'null')) result[keyword] = [...parts as unknown[], { type: 'null' }]
  }
  return result
}

/** Characters of a default that a description tells. */
const mostDefault = 100

/**
 * The default of a field that may be missing is the API's own: it becomes a part of the description. Some clients fill in what stands
 * as `default`, so that an update would set every field that it was not asked to change.
 */
export function withToldDefaults (schema: JsonSchema): JsonSchema {
  const required: readonly unknown[] = Array.isArray(schema['required']) ? schema['required'] : []
  return withSubschemas(schema, (each, property) => {
    const within = withToldDefaults(each)
    return property === undefined || required.includes(property) ? within : withTold(within)
  })
}

function withTold (property: JsonSchema): JsonSchema {
  if (!('default' in property)) return property
  const { default: value, ...rest } = property
  const text = JSON.stringify(value)
  const said = typeof rest['description'] === 'string' ? rest['description'].trimEnd() : ''
  if (/\bdefaults?\b/i.test(said) || text.length > mostDefault) return writtenLike(rest, property)
  return writtenLike({ ...rest, description: `${said}${/^$|[.!?:]$/.test(said) ? '' : '.'}${said === '' ? '' : ' '}Default: ${text}.` }, property)
}

function onceEach (values: readonly unknown[]): unknown[] {
  const once = [...new Map(values.map(value => [JSON.stringify(value), value])).values()]
  return once.length === values.length ? [...values] : once
}

/** Parts that are all plain objects, or only require fields of others, are one object. */
function withMergedParts (schema: JsonSchema): JsonSchema {
  const { allOf, ...rest } = schema
  const parts = Array.isArray(allOf) ? allOf.filter(isRecord) : []
  const [only] = parts
  if (parts.length === 1 && only !== undefined && !isRecord(rest['properties'])) return { ...only, ...rest, ...requiredOf([only, rest]) }
  if (!parts.some(isPlainObject) || !parts.every(part => isPlainObject(part) || isRequirement(part))) return schema
  const all = [...parts, rest]
  return {
    ...Object.fromEntries(parts.flatMap(part => Object.entries(part))),
    ...rest,
    type: 'object',
    properties: Object.fromEntries(all.flatMap(part => Object.entries(part['properties'] ?? {}))),
    ...requiredOf(all)
  }
}

function isRequirement (part: JsonSchema): boolean {
  return Array.isArray(part['required']) && Object.keys(part).every(keyword => ['required', 'type', 'title', 'description'].includes(keyword))
}

function requiredOf (parts: readonly JsonSchema[]): { required?: unknown[] } {
  const required = [...new Set(parts.flatMap(part => Array.isArray(part['required']) ? part['required'] as unknown[] : []))]
  return required.length === 0 ? {} : { required }
}
