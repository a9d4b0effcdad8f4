import { freeName, isRecord, pointerTarget, writtenAs, writtenLike } from '@toolyard/contract/terms'
import type { JsonSchema } from '../tool/tool.ts'
import { subschemasOf } from './form/subschemas.ts'

/** Names of properties that every provider takes. */
const taken = /^[a-zA-Z0-9_.-]{1,64}$/
const mostChars = 64
/** Objects and lists that one call may have looked at, and their schemas: those of a larger one come as they are. */
const mostSteps = 20_000
/** Schemas in which a name is looked for in the time of one step. */
const perStep = 16

const known = new WeakMap<JsonSchema, ReadonlyMap<string, string>>()

/** Names of a schema that not every provider takes, each with another one that is free in all of the schema. */
export function providerNames (schema: JsonSchema): ReadonlyMap<string, string> {
  const found = known.get(schema)
  if (found !== undefined) return found
  const names = new Set<string>()
  for (const { node: { properties } } of subschemasOf(schema)) {
    if (isRecord(properties)) for (const name of Object.keys(properties)) names.add(name)
  }
  const mapped = new Map<string, string>()
  for (const name of names) if (!taken.test(name)) mapped.set(name, freeName(safeName(name), names))
  known.set(schema, mapped)
  return mapped
}

/** The arguments with the names that the schema has, where a model was shown others. They are not changed. */
export function withWrittenNames (schema: JsonSchema, args: Record<string, unknown>): Record<string, unknown> {
  const names = providerNames(schema)
  if (names.size === 0) return args
  const written = new Map([...names].map(([name, sent]) => [sent, name]))
  const restored = new NameWriter(schema, written).write([schema], args)
  return isRecord(restored) ? restored : args
}

function safeName (name: string): string {
  return name.replace(/[^a-zA-Z0-9_.-]+/g, '_').replace(/^_+|(?<!_)_+$/g, '').slice(0, mostChars) || 'property'
}

/** Gemini refuses all functions of a request for one whose name begins with a digit or a hyphen. */
export function geminiName (name: string): string {
  return /^[a-zA-Z_]/.test(name) ? name : `_${name}`
}

/** The name that a tool has where a model was shown `geminiName`; the same where that changes nothing. */
export function writtenToolName (sent: string): string {
  return /^_[^a-zA-Z_]/.test(sent) ? sent.slice(1) : sent
}

class NameWriter {
  readonly #root: JsonSchema
  readonly #written: ReadonlyMap<string, string>
  #stepsLeft = mostSteps

  constructor (root: JsonSchema, written: ReadonlyMap<string, string>) {
    this.#root = root
    this.#written = written
  }

  /** @param schemas those that the value may be of. */
  write (schemas: readonly unknown[], value: unknown): unknown {
    if (typeof value !== 'object' || value === null || this.#stepsLeft-- < 0) return value
    const own = schemas.flatMap(schema => this.#branches(schema, 0))
    if (Array.isArray(value)) {
      const items = own.map(({ items }) => items).filter(isRecord)
      return items.length === 0 ? value : writtenLike(value.map(item => this.write(items, item)), value)
    }
    const properties = own.map(({ properties }) => properties).filter(isRecord)
    const of = (name: string): unknown[] => {
      this.#stepsLeft -= properties.length / perStep
      return this.#stepsLeft < 0 ? [] : properties.filter(each => Object.hasOwn(each, name)).map(each => each[name])
    }
    const itsName = (name: string): string => {
      const written = this.#written.get(name)
      const isSent = written !== undefined && !Object.hasOwn(value, written) && of(name).length === 0 && of(written).length > 0
      return isSent ? written : name
    }
    const renamed = Object.entries(value).map(([name, item]) => {
      const its = itsName(name)
      return [its, this.write(of(its), item)] as const
    })
    return writtenAs(Object.fromEntries(renamed), value, itsName)
  }

  #branches (schema: unknown, level: number): JsonSchema[] {
    if (!isRecord(schema) || level > 8 || this.#stepsLeft-- < 0) return []
    const { $ref: reference, allOf, anyOf, oneOf, then: yes, else: no } = schema
    const inner = [typeof reference === 'string' ? pointerTarget(this.#root, reference) : undefined, allOf, anyOf, oneOf, yes, no].flat()
    return [schema, ...inner.flatMap(each => this.#branches(each, level + 1))]
  }
}
