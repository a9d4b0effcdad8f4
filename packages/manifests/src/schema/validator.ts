import type { ErrorObject, ValidateFunction } from 'ajv'
import { manifestLimits } from '../limits.ts'
import { TooComplex } from './keywords.ts'
import { issuesOf, type Issue } from './issues.ts'

/** What validation makes of a call's arguments: a copy with defaults filled in, or what is wrong. */
export type ArgumentsResult = { ok: true, arguments: Record<string, unknown> } | { ok: false, issues: Issue[] }

export type Validator = (args: Record<string, unknown>) => ArgumentsResult

/** A compiled schema. `run` resets the counter of steps first. */
export interface CompiledSchema {
  run: (value: unknown) => readonly ErrorObject[]
}

/** The two ways to compile one schema: stopping at the first error, or finding all of them. */
export interface SchemaSource {
  compile: (allErrors: boolean) => CompiledSchema
  /** The schema has defaults: validation writes into what it validates. */
  defaults: boolean
  /** Ajv takes what objects inherit for a value that is there, and leaves the default out. */
  inherited: boolean
}

/**
 * A validator of arguments, compiled at its first use. It neither coerces nor changes what it is given: defaults go
 * into a copy.
 *
 * The first error decides. Only when there is one, and the arguments are small, they are gone through again for all
 * errors: 300,000 bad items cost no more than one.
 */
export function createValidator (source: SchemaSource): Validator {
  const quick = once(() => source.compile(false))
  const thorough = once(() => source.compile(true))
  const isBare = source.defaults && source.inherited
  const copy = (args: Record<string, unknown>) => isBare ? bareCopy(args) as Record<string, unknown> : source.defaults ? structuredClone(args) : args
  return args => {
    try {
      const filled = copy(args)
      const errors = quick().run(filled)
      if (errors.length === 0) return { ok: true, arguments: isBare ? structuredClone(filled) : filled }
      const all = isSmall(args) ? thorough().run(copy(args)) : []
      return { ok: false, issues: issuesOf(all.length > 0 ? all : errors) }
    } catch (error) {
      // RangeError: the stack, in a schema that follows itself; counted or not, the arguments can't be judged.
      if (error instanceof TooComplex || error instanceof RangeError) {
        return { ok: false, issues: [{ path: '/', message: 'is too complex to check against the schema of the tool' }] }
      }
      throw error
    }
  }
}

/** A copy whose objects inherit nothing. */
function bareCopy (value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bareCopy)
  if (typeof value !== 'object' || value === null) return value
  const copy = Object.create(null) as Record<string, unknown>
  for (const [name, item] of Object.entries(value)) copy[name] = bareCopy(item)
  return copy
}

/** Errors of one run of Ajv's function. */
export function errorsOf (validate: ValidateFunction, value: unknown): readonly ErrorObject[] {
  return validate(value) === true ? [] : validate.errors ?? []
}

function once<T> (make: () => T): () => T {
  let made: { value: T } | undefined
  return () => (made ??= { value: make() }).value
}

/** Whether the arguments hold at most `thoroughValues` values; counting stops there. */
function isSmall (args: object): boolean {
  const values: unknown[] = [args]
  for (const value of values) {
    if (typeof value !== 'object' || value === null) continue
    const items: readonly unknown[] = Array.isArray(value) ? value : Object.values(value)
    if (values.length + items.length > manifestLimits.thoroughValues) return false
    values.push(...items)
  }
  return true
}
