import { isRecord, pointerTarget } from '@toolyard/contract/terms'
import type { JsonSchema } from '../tool/tool.ts'

/** Providers refuse these at the top of a schema. */
const choices = ['anyOf', 'oneOf'] as const
const narrowing = ['not', 'enum', 'const', 'if', 'then', 'else'] as const
/** Choices within choices, and references to references. */
const mostLevels = 8
/** Schemas, their keywords, properties and required names that are looked at: choices within choices are gone through again and again. */
const mostSteps = 50_000
/** Characters of schemas that are compared in the time of one step. */
const perStep = 64

/**
 * A schema without choices at its top: the properties of all branches stand beside each other, and those are required that each
 * branch requires. So all that fits the schema still fits.
 *
 * @param changes takes what was changed, as ends of a sentence.
 */
export function flatSchema (schema: JsonSchema, changes: Set<string>): JsonSchema {
  const found = ['$ref', 'allOf', ...choices, ...narrowing].filter(keyword => keyword in schema)
  if (found.length === 0) return schema
  for (const keyword of found) {
    changes.add(`"${keyword}" at the top is ${narrowing.some(each => each === keyword) ? 'left' : 'written'} out`)
  }
  return new Flattener(schema).flat(schema, 0)
}

class Flattener {
  readonly #root: JsonSchema
  #stepsLeft = mostSteps

  constructor (root: JsonSchema) {
    this.#root = root
  }

  /** Says nothing of the schema where it lies too deep, or too much was looked at before. */
  flat (schema: unknown, level: number): JsonSchema {
    this.#stepsLeft -= 1
    if (!isRecord(schema) || level > mostLevels || this.#stepsLeft < 0) return {}
    this.#stepsLeft -= Object.keys(schema).length + requiredOf(schema).length
    const { $ref: reference, allOf, anyOf, oneOf, not: _, enum: __, const: ___, if: condition, then: yes, else: no, ...own } = schema
    const each = (list: unknown): JsonSchema[] => Array.isArray(list) ? list.map(branch => this.flat(branch, level + 1)) : []
    const all = [...typeof reference === 'string' ? [this.flat(pointerTarget(this.#root, reference), level + 1)] : [], ...each(allOf)]
    const whole = all.length === 0 ? own : this.#joined(own, all, [own, ...all].flatMap(requiredOf))
    const conditional = [condition, yes, no].filter(isRecord).map(part => ({ ...this.flat(part, level + 1), required: [] }))
    const alternatives = [each(anyOf), each(oneOf), conditional]
    return alternatives.filter(branches => branches.length > 0)
      .reduce((sum, branches) => this.#joined(sum, branches, [...requiredOf(sum), ...commonNames(branches)]), whole)
  }

  /** One schema with the properties of all. What the first says of itself stays. */
  #joined (first: JsonSchema, others: readonly JsonSchema[], required: readonly string[]): JsonSchema {
    const found = new Map<string, Alternatives>()
    const joined: JsonSchema = {}
    for (const { properties: _, required: __, additionalProperties: ___, ...rest } of others.toReversed()) Object.assign(joined, rest)
    for (const { properties } of [first, ...others]) {
      for (const [name, schema] of Object.entries(isRecord(properties) ? properties : {})) {
        this.#stepsLeft -= 1
        const known = found.get(name)
        if (known === undefined) found.set(name, new Alternatives(schema, each => this.#textOf(each)))
        else known.add(schema)
      }
    }
    const properties = Object.fromEntries([...found].map(([name, alternatives]) => [name, alternatives.schema]))
    return { ...joined, ...first, properties, ...required.length > 0 && { required: [...new Set(required)] } }
  }

  /** Undefined where too much was looked at before. */
  #textOf (schema: unknown): string | undefined {
    if (this.#stepsLeft < 0) return undefined
    const text = JSON.stringify(schema)
    this.#stepsLeft -= text.length / perStep
    return text
  }
}

/** The schemas of one property, each once. Where one can't be compared, nothing is said of the property. */
class Alternatives {
  readonly #first: unknown
  readonly #textOf: (schema: unknown) => string | undefined
  #others: unknown[] = []
  readonly #known: Set<unknown>

  constructor (first: unknown, textOf: (schema: unknown) => string | undefined) {
    this.#first = first
    this.#textOf = textOf
    this.#known = new Set([first])
  }

  add (schema: unknown): void {
    if (this.#known.has(schema)) return
    if (this.#known.size === 1) this.#known.add(this.#textOf(this.#first))
    this.#known.add(schema)
    const text = this.#textOf(schema)
    if (text !== undefined && this.#known.has(text)) return
    this.#known.add(text)
    this.#others.push(schema)
  }

  get schema (): unknown {
    if (this.#known.has(undefined)) return {}
    return this.#others.length === 0 ? this.#first : { anyOf: [...branchesOf(this.#first), ...this.#others] }
  }
}

/** The names that each of several schemas requires, in the order of the first. */
function commonNames ([first = {}, ...others]: readonly JsonSchema[]): string[] {
  return others.reduce((common, other) => {
    const names = new Set(requiredOf(other))
    return common.filter(name => names.has(name))
  }, requiredOf(first))
}

function branchesOf (schema: unknown): unknown[] {
  return isRecord(schema) && Object.keys(schema).length === 1 && Array.isArray(schema['anyOf']) ? schema['anyOf'] : [schema]
}

function requiredOf ({ required }: JsonSchema): string[] {
  return Array.isArray(required) ? required.filter(name => typeof name === 'string') : []
}
