import * as contract from '@toolyard/contract'

/** A JSON Schema as the document has it. */
export type DocumentSchema = Record<string, unknown> | boolean

/**
 * The schemas of the contract that the document names. Where one of them stands in another, also as a copy, the document
 * refers to it: a schema is told by its JSON.
 */
export class NamedSchemas {
  readonly #names = new Map<string, string>()
  readonly #schemas = new Map<string, DocumentSchema>()

  constructor () {
    for (const [name, value] of Object.entries(contract)) {
      const json = isSchema(value) ? JSON.stringify(value) : undefined
      if (json !== undefined && !this.#names.has(json)) this.#names.set(json, name)
    }
  }

  /** A TypeBox schema, or part of one, as the document has it. */
  refer (schema: object): DocumentSchema {
    return this.#convert(JSON.parse(JSON.stringify(schema)) as DocumentSchema)
  }

  /** All that was referred to, by name. */
  components (): Record<string, DocumentSchema> {
    return Object.fromEntries([...this.#schemas].sort(([left], [right]) => left < right ? -1 : 1))
  }

  #convert (schema: DocumentSchema): DocumentSchema {
    if (typeof schema === 'boolean') return schema
    const name = this.#names.get(JSON.stringify(schema))
    if (name === undefined) return this.#parts(schema)
    if (!this.#schemas.has(name)) {
      // Its place is taken first: a schema could hold itself.
      this.#schemas.set(name, true)
      this.#schemas.set(name, this.#parts(schema))
    }
    return { $ref: `#/components/schemas/${name}` }
  }

  #parts (schema: Record<string, unknown>): DocumentSchema {
    const parts: Record<string, unknown> = {}
    for (const [keyword, value] of Object.entries(schema)) {
      if (keyword === 'properties') parts[keyword] = mapValues(value as Record<string, DocumentSchema>, part => this.#convert(part))
      // What TypeBox writes for a record of any names.
      else if (keyword === 'patternProperties') {
        parts['additionalProperties'] = this.#convert(
          Object.values(value as Record<string, DocumentSchema>)[0] ?? true
        )
      } else if (keyword === 'items' || keyword === 'additionalProperties') parts[keyword] = this.#convert(value as DocumentSchema)
      else if (['anyOf', 'allOf', 'oneOf'].includes(keyword)) parts[keyword] = (value as DocumentSchema[]).map(part => this.#convert(part))
      else parts[keyword] = value
    }
    // Generators of clients take an `enum` without a type for any value.
    if (Array.isArray(parts['enum']) && parts['type'] === undefined) return { type: 'string', ...parts }
    return parts
  }
}

function isSchema (value: unknown): value is object {
  return typeof value === 'object' && value !== null && '~kind' in value
}

function mapValues<From, To> (record: Readonly<Record<string, From>>, map: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]))
}
