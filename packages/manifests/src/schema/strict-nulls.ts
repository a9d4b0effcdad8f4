import { isOfType, isRecord, pointerTarget, writtenLike } from '@toolyard/contract/terms'
import type { JsonSchema } from '../tool/tool.ts'

/** Steps and fields that one call may take: choices within choices are gone through again and again. */
const mostSteps = 20_000
/** Names and values that are compared in the time of one step. */
const perStep = 64
/** References that only lead to each other lead nowhere. */
const mostHops = 32

/** Ends a search that takes too long. */
class TooManySteps extends Error {}

/**
 * Arguments without the nulls that stand for "none" in strict mode: those of optional properties whose schema doesn't
 * take null, however deep. Of choices, the first counts that what is left fits into. The arguments are not changed;
 * those without such nulls, and those that would take long to go through, come back as they are.
 */
export function withoutStrictNulls (schema: JsonSchema, args: Record<string, unknown>): Record<string, unknown> {
  if (!holdsNull(args)) return args
  try {
    const stripped = new NullStripper(schema).strip(schema, args)
    return isRecord(stripped) ? stripped : args
  } catch (error) {
    if (error instanceof TooManySteps) return args
    throw error
  }
}

function holdsNull (args: object): boolean {
  const containers: object[] = [args]
  for (let container = containers.pop(); container !== undefined; container = containers.pop()) {
    if (Array.isArray(container)) {
      for (const item of container as unknown[]) {
        if (item === null) return true
        if (typeof item === 'object') containers.push(item)
      }
      continue
    }
    if (!isRecord(container)) continue
    for (const name in container) {
      const item = container[name]
      if (item === null) return true
      if (typeof item === 'object') containers.push(item)
    }
  }
  return false
}

class NullStripper {
  readonly #root: JsonSchema
  #steps = 0

  constructor (root: JsonSchema) {
    this.#root = root
  }

  strip (schema: unknown, value: unknown): unknown {
    const own = this.#resolve(schema)
    if (own === undefined) return value
    const choices = choicesOf(own)
    if (choices !== undefined) {
      for (const choice of choices) {
        const stripped = this.strip(choice, value)
        if (this.#fits(choice, stripped)) return stripped
      }
      return value
    }
    if (Array.isArray(value)) return writtenLike(value.map(item => this.strip(own['items'], item)), value)
    const { properties } = own
    const required = listOf(own['required'])
    if (!isRecord(value) || !isRecord(properties)) return value
    this.#count(Object.keys(value).length)
    const isIdle = (name: string, item: unknown): boolean =>
      item === null && Object.hasOwn(properties, name) && !this.#isAmong(required, name) && !this.#takesNull(properties[name])
    return writtenLike(Object.fromEntries(Object.entries(value)
      .filter(([name, item]) => !isIdle(name, item))
      .map(([name, item]) => [name, Object.hasOwn(properties, name) ? this.strip(properties[name], item) : item])), value)
  }

  /** Decides between the choices of a strict schema; the validator checks the rest. */
  #fits (schema: unknown, value: unknown): boolean {
    const own = this.#resolve(schema)
    if (own === undefined) return schema !== false
    const choices = choicesOf(own)
    if (choices !== undefined) return choices.some(choice => this.#fits(choice, value))
    const { type, enum: values, properties, additionalProperties } = own
    if ('const' in own && own['const'] !== value) return false
    if (Array.isArray(values) && !this.#isAmong(values, value)) return false
    if (type !== undefined && ![type].flat().some(name => isOfType(value, name))) return false
    if (Array.isArray(value)) return value.every(item => this.#fits(own['items'] ?? true, item))
    if (!isRecord(value) || !isRecord(properties)) return true
    return listOf(own['required']).every(name => Object.hasOwn(value, String(name))) && Object.entries(value).every(([name, item]) => (
      Object.hasOwn(properties, name) ? this.#fits(properties[name], item) : additionalProperties !== false
    ))
  }

  #takesNull (schema: unknown): boolean {
    const own = this.#resolve(schema)
    if (own === undefined) return schema !== false
    const { type, enum: values } = own
    if (Array.isArray(values)) return this.#isAmong(values, null)
    if (type !== undefined) return [type].flat().includes('null')
    if ('const' in own) return own['const'] === null
    return choicesOf(own)?.some(choice => this.#takesNull(choice)) ?? false
  }

  /** The schema that a reference leads to, or itself; undefined for what isn't an object. */
  #resolve (schema: unknown): JsonSchema | undefined {
    let own = schema
    for (let hops = 0; isRecord(own) && typeof own['$ref'] === 'string'; hops++) {
      if (hops > mostHops) return undefined
      own = pointerTarget(this.#root, own['$ref'])
    }
    this.#count(1)
    return isRecord(own) ? own : undefined
  }

  #isAmong (values: readonly unknown[], value: unknown): boolean {
    this.#count(values.length / perStep)
    return values.includes(value)
  }

  #count (steps: number): void {
    this.#steps += steps
    if (this.#steps > mostSteps) throw new TooManySteps()
  }
}

function choicesOf ({ anyOf, oneOf }: JsonSchema): unknown[] | undefined {
  const choices: unknown = anyOf ?? oneOf
  return Array.isArray(choices) ? choices : undefined
}

function listOf (value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
