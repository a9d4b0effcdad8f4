import { isRecord } from '@toolyard/contract/terms'
import type { ErrorObject, ValidateFunction } from 'ajv'
import { manifestLimits } from '../tool/limits.ts'
import { TooComplex } from './keywords.ts'
import { issuesOf, type Issue } from './issues.ts'

/** What validation makes of a call's arguments: a copy with defaults filled in, or what is wrong. */
export type ArgumentsResult = { ok: true, arguments: Record<string, unknown> } | { ok: false, issues: Issue[] }

export type Validator = (args: Record<string, unknown>) => ArgumentsResult

/** Arguments that take more to check than any are worth. */
export const tooComplex: ArgumentsResult = { ok: false, issues: [{ path: '/', message: 'is too complex to check against the schema of the tool' }] }

/** A compiled schema. `run` resets the counter of steps first. */
export interface CompiledSchema {
  run: (value: unknown) => readonly ErrorObject[]
}

/**
 * The ways to compile one schema: stopping at the first error, following so many references at most; finding all errors;
 * or stopping at the first one, looking at so many subschemas at most.
 */
export type CheckWay = 'references' | 'all errors' | 'everything'

/** A schema to make a validator of. */
export interface SchemaSource {
  compile: (way: CheckWay) => CompiledSchema
  /** Its subschemas. */
  nodes: number
  /** The schema has defaults: validation writes into what it validates. */
  defaults: boolean
}

/**
 * A validator of arguments, compiled at its first use. It neither coerces nor changes what it is given: defaults go
 * into a copy.
 *
 * The first error decides. Only when there is one, and the arguments are small, they are gone through again for all
 * errors: 300,000 bad items cost no more than one. Large arguments of a schema with many parts are gone through with
 * every step counted: choices multiply their time.
 */
export function createValidator (source: SchemaSource): Validator {
  const quick = once(() => source.compile('references'))
  const thorough = once(() => source.compile('all errors'))
  const careful = once(() => source.compile('everything'))
  const copy = (args: Record<string, unknown>) => source.defaults ? bareRecord(args) : args
  return args => {
    try {
      const filled = copy(args)
      const errors = (holdsAtMost(args, manifestLimits.uncountedSteps / source.nodes) ? quick() : careful()).run(filled)
      if (errors.length === 0) {
        if (filled !== args) makePlain(filled)
        return { ok: true, arguments: filled }
      }
      const all = holdsAtMost(args, Math.min(manifestLimits.thoroughValues, manifestLimits.thoroughSteps / source.nodes))
        ? thorough().run(copy(args))
        : []
      return { ok: false, issues: issuesOf(all.length > 0 ? all : errors) }
    } catch (error) {
      // RangeError: the stack, in a schema that follows itself; counted or not, the arguments can't be judged.
      if (error instanceof TooComplex || error instanceof RangeError) {
        return tooComplex
      }
      throw error
    }
  }
}

/**
 * A copy of JSON whose objects inherit nothing: Ajv takes what they inherit for a value that is there, and leaves the
 * default out. They are also the quickest to fill: of 14,000 objects, each with a name of its own, plain copies and
 * their defaults take 60 ms, these 15 ms.
 */
function bareRecord (record: Record<string, unknown>): Record<string, unknown> {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- It has no fields yet.
  const copy = Object.create(null) as Record<string, unknown>
  // Object.entries takes twice as long for 30,000 fields.
  for (const name in record) copy[name] = bareCopy(record[name])
  return copy
}

function bareCopy (value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bareCopy)
  return isRecord(value) ? bareRecord(value) : value
}

/** Makes plain objects of those of a bare copy. */
function makePlain (value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) Object.setPrototypeOf(value, Object.prototype)
  for (const item of Object.values(value)) makePlain(item)
}

/** Errors of one run of Ajv's function. */
export function errorsOf (validate: ValidateFunction, value: unknown): readonly ErrorObject[] {
  return validate(value) === true ? [] : validate.errors ?? []
}

function once<T> (make: () => T): () => T {
  let made: { value: T } | undefined
  return () => (made ??= { value: make() }).value
}

/** Whether the arguments hold at most so many values; counting stops there. */
export function holdsAtMost (args: object, most: number): boolean {
  const containers: object[] = [args]
  let values = 1
  for (let container = containers.pop(); container !== undefined && values <= most; container = containers.pop()) {
    if (Array.isArray(container)) {
      values += container.length
      if (values <= most) for (const item of container as unknown[]) if (typeof item === 'object' && item !== null) containers.push(item)
      continue
    }
    // Object.values takes four times as long for 30,000 fields.
    if (!isRecord(container)) continue
    for (const name in container) {
      const item = container[name]
      values += 1
      if (typeof item === 'object' && item !== null) containers.push(item)
    }
  }
  return values <= most
}
