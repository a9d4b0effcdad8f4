import { isRecord } from '@toolyard/contract/terms'
import { Check } from 'typebox/schema'
import type { TSchema } from 'typebox'
import { placeOf } from '../document/place.ts'
import type { DocumentPath, FieldFault } from '../finding/finding.ts'
import { limitNames, limitText, snakeCase } from '../program/limit-fields.ts'
import { parameterTypes } from './definition.ts'

interface FieldText {
  /** Names of fields from the definition on; `*` is any name. */
  place: readonly string[]
  rule: string
  /** Follows the place of the field. */
  says: string
  fix: string
}

const row = (place: string, rule: string, says: string, fix: string): FieldText => ({ place: place.split('.'), rule, says, fix })
const typeList = `[${parameterTypes.map(type => `'${type}'`).join(', ')}]`
const boolean = ['must be a boolean', 'Write true or false; yes and no are texts.'] as const
const text = ['must be a non-empty string', 'Write a text.'] as const

/** One text for each field, by the most exact place. */
const fieldTexts: readonly FieldText[] = [
  row('metadata', 'P10', 'must be an object', 'Write an object with name and description.'),
  row('metadata.name', 'P11', ...text),
  row('metadata.description', 'P11', ...text),
  row('metadata.maintainers', 'P11', 'must be a list of strings', 'Write a list of texts.'),
  row('metadata.tags', 'P11', 'must be a list of strings', 'Write a list of texts.'),
  row('name', 'P28', 'must match ^[a-z0-9_-]+$', 'Use lower case letters, digits, _ and -.'),
  row('description', 'P14', ...text),
  row('module', 'P15', ...text),
  row('class_name', 'P16', ...text),
  row('permissions', 'P18', 'must be a list of strings', 'Write a list, such as [read_repo], or leave it out.'),
  row('inputs', 'P20', 'must be an object', 'Write an object of parameters.'),
  row('inputs.*', 'P20', 'must be an object', 'Write an object with a type.'),
  row('inputs.type', 'P20', 'must be an object', 'Write what a schema has in properties into inputs itself, and "required": true into each that is.'),
  row('inputs.required', 'P20', 'must be an object', 'Write "required": true into each parameter that is; a list of names has no place in inputs.'),
  row('inputs.*.type', 'P20', `must be one of ${typeList}`, 'Name one type.'),
  row('inputs.*.required', 'P20', 'must be a boolean when provided', boolean[1]),
  row('outputs', 'P21', 'must be an object', 'Write an object of what is returned.'),
  row('outputs.*', 'P21', 'must be an object', 'Write an object with a type.'),
  row('outputs.*.type', 'P21', `must be one of ${typeList}`, 'Name one type.'),
  ...['inputs', 'outputs'].flatMap(field => [
    row(`${field}.*.description`, 'X17', 'must be a string', 'Write a text.'),
    row(`${field}.*.enum`, 'X17', 'must be a non-empty list', 'List the values.'),
    row(`${field}.*.items`, 'X17', 'must be an object', 'Write the schema of the items.'),
    row(`${field}.*.properties`, 'X17', 'must be an object', 'Write a schema for each property.'),
    row(`${field}.*.properties.*`, 'X17', 'must be an object', 'Write the schema of the property.')
  ]),
  row('runtime', 'P22', 'must be an object when provided', 'Write an object, or leave it out.'),
  row('runtime.timeout_seconds', 'P22', 'must be a positive number', 'Write seconds, such as 10 or 0.5.'),
  row('runtime.concurrency', 'P22', 'must be a string', 'Write "serial", or leave it out.'),
  row('runtime.limits', 'X8', 'must be an object', 'Write an object of limits, or leave it out.'),
  ...limitNames.map(name => row(`runtime.limits.${snakeCase(name)}`, 'X8', limitText(name), 'Write a whole number.')),
  row('sha256', 'fault 48', 'must be 64 hexadecimal digits', 'Write what sha256sum prints for the file of the module.'),
  row('notes', 'P23', 'must be a string', 'Write a text.'),
  row('config', 'PC14', 'must be an object', 'Write an object.'),
  row('enabled', 'X14', ...boolean),
  row('disabled', 'X14', ...boolean),
  row('override', 'X13', ...boolean),
  row('idempotent', 'P22', ...boolean),
  row('asks', 'P22', ...boolean),
  row('strict_outputs', 'P21', ...boolean),
  row('python_root', 'P29', ...text)
]

/** Fields that are looked at one by one in a value: an object with properties, or a map. */
interface Fields {
  properties?: Record<string, TSchema>
  required?: readonly string[]
  additionalProperties?: TSchema
}

/** Faults of one value that are named. */
const most = 100

/**
 * Compares a value with its definition, field by field, so that every fault is found.
 *
 * @param place where the value stands in the document, e.g. `['tools', 0]`.
 * @param root where the names of `fieldTexts` start, as a number of steps into the path.
 */
export function fieldFaults (definition: TSchema, value: unknown, place: DocumentPath, root: number): FieldFault[] {
  const faults: FieldFault[] = []
  for (const path of wrongFields(definition, value, place)) {
    faults.push(fieldFault(path, root))
    if (faults.length === most) break
  }
  return faults
}

function * wrongFields (schema: TSchema, value: unknown, path: DocumentPath): Generator<DocumentPath> {
  const { properties = {}, required = [], additionalProperties: others } = schema as Fields
  if (Object.keys(properties).length === 0 && others === undefined) {
    if (!Check(schema, value)) yield path
    return
  }
  if (!isRecord(value)) {
    yield path
    return
  }
  for (const [name, property] of Object.entries(properties)) {
    if (Object.hasOwn(value, name)) yield * wrongFields(property, value[name], [...path, name])
    else if (required.includes(name)) yield [...path, name]
  }
  if (others === undefined) return
  for (const [name, other] of Object.entries(value)) {
    if (!Object.hasOwn(properties, name)) yield * wrongFields(others, other, [...path, name])
  }
}

function fieldFault (path: DocumentPath, root: number): FieldFault {
  const steps = path.slice(root)
  const candidates = fieldTexts.filter(({ place }) => place.length <= steps.length && place.every((name, at) => name === '*' || name === steps[at]))
  const text = candidates.reduce<FieldText | undefined>(
    (best, each) => (best?.place.length ?? 0) > each.place.length ? best : each, undefined
  )
  if (text === undefined) return { path, rule: 'P12', message: `${placeOf(path)} must be an object`, fix: 'Write an object.' }
  return { path, rule: text.rule, message: `${placeOf(path)} ${text.says}`, fix: text.fix }
}
