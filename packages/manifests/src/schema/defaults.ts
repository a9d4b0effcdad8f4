import { isOfType, isRecord, pointerTarget } from '@toolyard/contract/terms'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import { isDeeperThan } from '../document/depth.ts'
import { shortened } from '../finding/shortened.ts'
import { manifestLimits } from '../tool/limits.ts'
import { isPlainPattern } from './pattern/plain.ts'
import { withSubschemas } from './form/subschemas.ts'
import { losesDigits, lostNumbers, surveySchema } from './survey.ts'

/** A schema whose defaults all fit, and where those stand that were left out. */
export interface FittingDefaults {
  schema: Record<string, unknown>
  /** Names of properties, from the outermost one inwards. */
  unfit: Array<readonly string[]>
}

/** A call without an argument must not be refused for the default that is filled in for it: such defaults are left out. */
export function fittingDefaults (schema: Readonly<Record<string, unknown>>): FittingDefaults {
  const unfit: FittingDefaults['unfit'] = []
  // It is refused.
  if (isDeeperThan(manifestLimits.depth, schema)) return { schema: { ...schema }, unfit }
  const check = new FitCheck(schema)
  const fitting = withDefaults(schema, [], ({ inner, place }) => {
    // A default that loses digits was read as another value.
    const fits = check.fits(inner['default'], inner) && !losesDigits(inner, 'default')
    if (!fits) unfit.push(place)
    return fits
  })
  return { schema: fitting, unfit }
}

/**
 * A schema whose defaults are those of required properties. What another service does without an argument is its own:
 * with all defaults filled in, a call that updates one field would set all others.
 */
export function neededDefaults (schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  // Most schemas have none.
  if (isDeeperThan(manifestLimits.depth, schema) || !surveySchema(schema).defaults) return { ...schema }
  return withDefaults(schema, [], ({ isRequired }) => isRequired)
}

/** Properties that are named. */
const most = 20

/** For a schema of arguments with defaults that don't fit, or bounds that are read as others. */
export function defaultFaults (schema: unknown): Array<{ message: string, fix: string }> {
  if (!isRecord(schema) || isDeeperThan(manifestLimits.depth, schema)) return []
  // Most schemas have none, and to look for them takes less than to judge them.
  const unfit = surveySchema(schema).defaults ? fittingDefaults(schema).unfit : []
  const defaults = unfit.slice(0, most).map(place => ({
    message: `the default of ${JSON.stringify(shortened(place.join('.')))} does not fit it: it is not filled in`,
    fix: 'Correct the default, or remove it. A number with more digits than a double holds is written as a text.'
  }))
  return [...defaults, ...boundFaults(schema)]
}

/** Values that are compared with arguments are told by `Schemas.check`. */
export function boundFaults (schema: Readonly<Record<string, unknown>>): Array<{ message: string, fix: string }> {
  return lostNumbers(schema).filter(({ keyword }) => !['enum', 'const'].includes(keyword)).map(({ place, text, read }) => ({
    message: `${shortened(place)} ${shortened(text)} has more digits than are kept: it is read as ${read}`, fix: 'Write a number of at most 15 digits.'
  }))
}

/** A property whose default may stay. */
interface Defaulted {
  /** Without the defaults within that don't stay. */
  inner: Record<string, unknown>
  place: readonly string[]
  isRequired: boolean
}

type Keeps = (property: Defaulted) => boolean

function withDefaults (schema: Readonly<Record<string, unknown>>, place: readonly string[], keeps: Keeps): Record<string, unknown> {
  const required = new Set<unknown>(Array.isArray(schema['required']) ? schema['required'] : [])
  return withSubschemas(schema, (written, property) => {
    if (property === undefined) return withDefaults(written, place, keeps)
    const at = [...place, property]
    // Those within go first: a default of the whole may rely on them.
    const inner = withDefaults(written, at, keeps)
    if (!('default' in inner) || keeps({ inner, place: at, isRequired: required.has(property) })) return inner
    const { default: _, ...rest } = inner
    return rest
  })
}

/** Characters of a default, or values that it is compared with, that are looked at in the time of one step. */
const perStep = 64

/** Judges defaults by the schema that they stand in. What can't be judged within its bounds counts as fitting. */
class FitCheck {
  readonly #root: Readonly<Record<string, unknown>>
  #stepsLeft = 20_000
  readonly #texts = new WeakMap<object, string>()

  constructor (root: Readonly<Record<string, unknown>>) {
    this.#root = root
  }

  fits (value: unknown, schema: unknown, depth = 0): boolean {
    if (schema === false) return false
    if (!isRecord(schema) || depth > 30) return true
    this.#stepsLeft -= 1 + (typeof value === 'string' ? value : this.#textOf(value)).length / perStep + (Array.isArray(schema['enum']) ? schema['enum'].length / perStep : 0)
    if (this.#stepsLeft < 0) return true
    if (value === null && schema['nullable'] === true) return true
    const { $ref: reference, type, enum: values, allOf, anyOf, oneOf } = schema
    const all = (schemas: unknown): boolean => !Array.isArray(schemas) || schemas.every(each => this.fits(value, each, depth + 1))
    const some = (schemas: unknown): boolean => !Array.isArray(schemas) || schemas.some(each => this.fits(value, each, depth + 1))
    return (type === undefined || [type].flat().some(each => isOfType(value, each))) &&
      (!Array.isArray(values) || values.some(each => this.#isSame(each, value))) &&
      (!('const' in schema) || this.#isSame(schema['const'], value)) &&
      (typeof reference !== 'string' || this.fits(value, pointerTarget(this.#root, reference), depth + 1)) &&
      all(allOf) && some(anyOf) && some(oneOf) &&
      numberFits(value, schema) && textFits(value, schema) && this.#listFits(value, schema, depth) && this.#objectFits(value, schema, depth)
  }

  #isSame (left: unknown, right: unknown): boolean {
    return typeof left === 'string' || typeof right === 'string' ? left === right : this.#textOf(left) === this.#textOf(right)
  }

  /** The JSON of what is no text; that of a large value is written once. */
  #textOf (value: unknown): string {
    if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? ''
    const text = this.#texts.get(value) ?? JSON.stringify(value)
    this.#texts.set(value, text)
    return text
  }

  #listFits (value: unknown, { items, minItems, maxItems }: Record<string, unknown>, depth: number): boolean {
    if (!Array.isArray(value)) return true
    return isWithin(value.length, minItems, maxItems) && (!isRecord(items) || value.every(item => this.fits(item, items, depth + 1)))
  }

  #objectFits (value: unknown, schema: Record<string, unknown>, depth: number): boolean {
    if (!isRecord(value)) return true
    const { required, additionalProperties: others, patternProperties } = schema
    const properties = isRecord(schema['properties']) ? schema['properties'] : {}
    const hasDefault = (name: string): boolean => {
      const property = Object.hasOwn(properties, name) ? properties[name] : undefined
      return isRecord(property) && 'default' in property
    }
    const isThere = (name: unknown): boolean => typeof name !== 'string' || Object.hasOwn(value, name) || hasDefault(name)
    return (!Array.isArray(required) || required.every(isThere)) &&
      Object.entries(value).every(([name, item]) => Object.hasOwn(properties, name)
        ? this.fits(item, properties[name], depth + 1)
        : patternProperties !== undefined || this.fits(item, others, depth + 1))
  }
}

function isWithin (size: number, min: unknown, max: unknown): boolean {
  return !(typeof min === 'number' && size < min) && !(typeof max === 'number' && size > max)
}

function numberFits (value: unknown, schema: Record<string, unknown>): boolean {
  const { minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below, multipleOf: step } = schema
  if (typeof value !== 'number') return true
  const isMultiple = typeof step !== 'number' || Math.abs(value / step - Math.round(value / step)) < 1e-9
  return isMultiple && isWithin(value, minimum, maximum) && !(typeof above === 'number' && value <= above) && !(typeof below === 'number' && value >= below)
}

/** UTF-16 units of a text whose form is judged. */
const judgedChars = 1_000

function textFits (value: unknown, { minLength, maxLength, pattern, format }: Record<string, unknown>): boolean {
  if (typeof value !== 'string') return true
  if (!isWithin([...value].length, minLength, maxLength)) return false
  if (value.length > judgedChars) return true
  if (typeof pattern === 'string' && isPlainPattern(pattern) && !new RegExp(pattern, 'u').test(value)) return false
  return typeof format !== 'string' || hasFormat(value, format)
}

function hasFormat (value: string, format: string): boolean {
  const known: unknown = Object.hasOwn(fullFormats, format) ? Reflect.get(fullFormats, format) : undefined
  const check: unknown = isRecord(known) && 'validate' in known ? known['validate'] : known
  if (check instanceof RegExp) return check.test(value)
  return typeof check !== 'function' || Boolean(Reflect.apply(check, undefined, [value]))
}
