import * as contract from '@toolyard/contract'
import { isRecord, storedJson } from '@toolyard/contract'

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
  refer (schema: unknown): DocumentSchema {
    return this.#convert(storedJson<DocumentSchema>(JSON.stringify(schema)))
  }

  components (): Record<string, DocumentSchema> {
    return Object.fromEntries([...this.#schemas].sort(([left], [right]) => left < right ? -1 : 1))
  }

  #convert (schema: unknown): DocumentSchema {
    if (!isRecord(schema)) return schema !== false
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
      if (keyword === 'properties') parts[keyword] = mapValues(value, part => this.#convert(part))
      // TypeBox writes it for a record of any names.
      else if (keyword === 'patternProperties') {
        parts['additionalProperties'] = this.#convert(
          Object.values(value ?? {})[0] ?? true
        )
      } else if (keyword === 'items' || keyword === 'additionalProperties') parts[keyword] = this.#convert(value)
      else if (['anyOf', 'allOf', 'oneOf'].includes(keyword) && Array.isArray(value)) parts[keyword] = value.map(part => this.#convert(part))
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

function mapValues<To> (record: unknown, map: (value: unknown) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(record ?? {}).map(([name, value]) => [name, map(value)]))
}
