import { fragmentToken } from '@toolyard/contract/terms'
import { targetsIn, type JsonSchema } from '@toolyard/manifests'

const schemasPath = '#/components/schemas/'
/** Keywords whose value is one subschema, a list of them, or a map to them. */
const single = new Set([
  'additionalProperties',
  'contains',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
  'contentSchema'
])
const lists = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems'])
const maps = new Set(['properties', 'patternProperties', '$defs', 'dependentSchemas'])
/** Without a meaning here, or with another one in a document of OpenAPI. */
const dropped = new Set([
  '$schema',
  '$id',
  '$anchor',
  '$dynamicAnchor',
  '$recursiveAnchor',
  '$vocabulary',
  'discriminator',
  'xml',
  'externalDocs'
])
/** Keywords of older drafts that only have another name. */
const renamed: ReadonlyMap<string, string> = new Map([['definitions', '$defs'], ['$recursiveRef', '$ref'], ['$dynamicRef', '$ref']])

/**
 * Writes the schema of a tool, of whatever draft, as components of a document of OpenAPI 3.1: as 2020-12, with its
 * references led to where their targets stand there. Each part stands there once, however many references lead to it.
 *
 * @param name of the component that the schema becomes; others begin with it and a dot.
 */
export function toolComponents (name: string, schema: JsonSchema): Record<string, unknown> {
  return new ToolSchema(name, schema).components()
}

/** A reference that was written before its target had a place. */
interface Reference {
  from: Record<string, unknown>
  target: unknown
}

class ToolSchema {
  readonly #root: JsonSchema
  readonly #components: Record<string, unknown> = {}
  /** Where the subschemas stand in the document. */
  readonly #places = new Map<object, string>()
  readonly #references: Reference[] = []
  readonly #name: string
  /** References lead within the schema; others are refused when the manifest is loaded. */
  readonly #targetOf: (reference: string) => unknown
  /** How often a name was asked for. */
  readonly #used = new Map<string, number>()

  constructor (name: string, schema: JsonSchema) {
    this.#root = schema
    this.#targetOf = targetsIn(schema)
    this.#name = name
  }

  components (): Record<string, unknown> {
    // Definitions at the top are components of their own: that is where most readers of such documents look for them.
    const { $defs = {}, definitions = {}, ...rest } = this.#root
    const own = Object.fromEntries([definitions, $defs].flatMap(each => Object.entries(each ?? {})))
    this.#add(this.#name, this.#root, rest)
    for (const [each, definition] of Object.entries(own)) this.#add(this.#freeName(each), definition)
    for (const { from, target } of this.#references) from['$ref'] = this.#placeOf(target)
    return this.#components
  }

  #add (name: string, schema: unknown, parts: unknown = schema): void {
    if (typeof schema === 'object' && schema !== null) this.#places.set(schema, schemasPath + name)
    this.#components[name] = this.#convert(parts, schemasPath + name)
  }

  #freeName (part: string): string {
    const name = `${this.#name}.${part.replaceAll(/[^\w.-]/g, '_')}`
    const used = this.#used.get(name) ?? 0
    this.#used.set(name, used + 1)
    return used === 0 ? name : this.#freeName(`${part}_${used + 1}`)
  }

  #placeOf (target: unknown): string {
    const known = typeof target === 'object' && target !== null ? this.#places.get(target) : undefined
    if (known !== undefined) return known
    // It stands where no subschema does, or is `true` or `false`. The list of references may grow by this.
    const name = this.#freeName('part')
    this.#add(name, target ?? true)
    return schemasPath + name
  }

  #convert (schema: unknown, place: string): unknown {
    if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return schema
    if (!this.#places.has(schema)) this.#places.set(schema, place)
    const parts: Record<string, unknown> = {}
    for (const [original, value] of Object.entries(schema)) {
      const keyword = renamed.get(original) ?? original
      if (dropped.has(keyword)) continue
      if (keyword === '$ref') this.#refer(parts, value)
      else if (keyword === 'items' && Array.isArray(value)) parts['prefixItems'] = this.#list(value, `${place}/prefixItems`)
      else if (keyword === 'additionalItems') {
        Object.assign(
          parts,
          'items' in schema && Array.isArray(schema.items) && { items: this.#convert(value, `${place}/items`) }
        )
      } else if (keyword === 'dependencies') this.#dependencies(parts, value, place)
      else if (single.has(keyword)) parts[keyword] = this.#convert(value, `${place}/${keyword}`)
      else if (lists.has(keyword) && Array.isArray(value)) parts[keyword] = this.#list(value, `${place}/${keyword}`)
      else if (maps.has(keyword)) parts[keyword] = this.#map((value as unknown) ?? {}, `${place}/${keyword}`)
      else if (keyword !== 'nullable') parts[keyword] = value
    }
    if ('nullable' in schema && schema.nullable === true && typeof parts['type'] === 'string') parts['type'] = [parts['type'], 'null']
    return parts
  }

  #list (schemas: readonly unknown[], place: string): unknown[] {
    return schemas.map((each, at) => this.#convert(each, `${place}/${at}`))
  }

  #map (schemas: object, place: string): Record<string, unknown> {
    return Object.fromEntries(Object.entries(schemas).map(([name, each]) => [name, this.#convert(each, `${place}/${fragmentToken(name)}`)]))
  }

  /** A list of names, or a schema, by the name that brings it with it. */
  #dependencies (parts: Record<string, unknown>, value: unknown, place: string): void {
    const entries = Object.entries(value ?? {})
    const names = entries.filter(([, each]) => Array.isArray(each))
    const schemas = entries.filter(([, each]) => !Array.isArray(each))
    if (names.length > 0) parts['dependentRequired'] = Object.fromEntries(names)
    if (schemas.length > 0) parts['dependentSchemas'] = this.#map(Object.fromEntries(schemas), `${place}/dependentSchemas`)
  }

  #refer (from: Record<string, unknown>, reference: unknown): void {
    from['$ref'] = reference
    this.#references.push({ from, target: this.#targetOf(String(reference)) })
  }
}
