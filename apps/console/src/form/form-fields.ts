import { readWhole, writeThrough } from '@toolyard/contract/terms'

export interface FormField {
  name: string
  /** The field for it: `list` is a text with an entry on each line, `json` one that holds JSON, `group` the fields of an object. */
  kind: 'text' | 'number' | 'boolean' | 'choice' | 'list' | 'json' | 'group'
  /** Where its text is kept: the names of the objects that it is in, and its own. */
  path: string
  isRequired: boolean
  description: string
  initial: string
  /** The texts of a choice's values, in order. */
  choices: readonly string[]
  /** Of a group; of a list the one that stands for its entries. */
  fields: readonly FormField[]
}

type Schema = Readonly<Record<string, unknown>>

/** Objects in objects that are shown as fields; deeper ones are written as JSON. */
const mostDepth = 3

/** The fields for a tool's arguments; undefined for a schema that says no fields, whose arguments are written as JSON. */
export function fieldsOf (schema: unknown, path = '', depth = 0): FormField[] | undefined {
  if (!isSchema(schema) || !isSchema(schema['properties'])) return undefined
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  return Object.entries(schema['properties']).map(([name, property]) => (
    fieldOf({ name, path: path === '' ? segment(name) : `${path}.${segment(name)}`, isRequired: required.includes(name) }, isSchema(property) ? property : {}, depth)
  ))
}

function fieldOf (about: Pick<FormField, 'name' | 'path' | 'isRequired'>, schema: Schema, depth: number): FormField {
  const { type, enum: values, description, items, default: initial } = schema
  const choices = Array.isArray(values) ? values.map(value => JSON.stringify(value)) : []
  const given = { ...about, description: typeof description === 'string' ? description : '', choices }
  const group = type === 'object' && initial === undefined && depth < mostDepth ? fieldsOf(schema, about.path, depth + 1) : undefined
  if (group !== undefined && group.length > 0 && choices.length === 0) return { ...given, kind: 'group', initial: '', fields: group }
  const entry = type === 'array' && isSchema(items) && choices.length === 0 ? fieldOf({ ...about, isRequired: false }, items, mostDepth) : undefined
  if (entry !== undefined && (entry.kind === 'text' || entry.kind === 'number' || entry.kind === 'choice')) {
    const lines = Array.isArray(initial) ? initial.map(value => typeof value === 'string' ? value : JSON.stringify(value)).join('\n') : ''
    return { ...given, kind: 'list', initial: lines, fields: [entry] }
  }
  const kind = choices.length > 0 ? 'choice' : type === 'string' ? 'text' : type === 'integer' || type === 'number' ? 'number' : type === 'boolean' ? 'boolean' : 'json'
  const text = initial === undefined ? '' : typeof initial === 'string' && kind === 'text' ? initial : JSON.stringify(initial)
  return { ...given, kind, initial: text, fields: [] }
}

/** The first texts of a form, by the paths of its fields. */
export function initialsOf (fields: readonly FormField[]): Record<string, string> {
  return Object.fromEntries(fields.flatMap(({ kind, path, initial, fields: inner }): Array<[string, string]> => (
    kind === 'group' ? Object.entries(initialsOf(inner)) : [[path, initial]]
  )))
}

/** The texts of a form that stand for these arguments, by the paths of its fields. */
export function textsOf (fields: readonly FormField[], args: unknown): Record<string, string> {
  const given = isSchema(args) ? args : {}
  return Object.fromEntries(fields.flatMap(({ name, kind, path, fields: inner }): Array<[string, string]> => {
    const value = given[name]
    if (kind === 'group') return Object.entries(textsOf(inner, value))
    if (value === undefined) return [[path, '']]
    if (kind === 'list' && Array.isArray(value)) return [[path, value.map(each => typeof each === 'string' ? each : writeThrough(each)).join('\n')]]
    return [[path, kind === 'text' && typeof value === 'string' ? value : writeThrough(value)]]
  }))
}

/** A sentence for each wrong field, by its path. */
export class FieldFaults extends Error {
  override readonly name = 'FieldFaults'
  readonly faults: ReadonlyMap<string, string>

  constructor (faults: ReadonlyMap<string, string>) {
    super([...faults.values()].join(' '))
    this.faults = faults
  }
}

/**
 * The arguments that the texts of a form stand for. What is empty and not required is left out.
 *
 * @throws FieldFaults that names all fields whose text is missing, or not what it should be.
 */
export function argumentsOf (fields: readonly FormField[], texts: Readonly<Record<string, string>>): Record<string, unknown> {
  const faults = new Map<string, string>()
  const args = readFields(fields, texts, faults)
  if (faults.size > 0) throw new FieldFaults(faults)
  return args
}

/** The field that a place in arguments leads to, such as `/mail/to/0`; undefined where none does. */
export function fieldAt (fields: readonly FormField[], pointer: string): string | undefined {
  const [first, ...rest] = pointer.split('/').slice(1).map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  const field = fields.find(({ name }) => name === first)
  if (field?.kind !== 'group') return field?.path
  return fieldAt(field.fields, `/${rest.map(part => part.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')}`)
}

function readFields (
  fields: readonly FormField[], texts: Readonly<Record<string, string>>, faults: Map<string, string>
): Record<string, unknown> {
  return Object.fromEntries(fields.flatMap((field): Array<[string, unknown]> => {
    if (field.kind === 'group') {
      return field.isRequired || isBegun(field, texts) ? [[field.name, readFields(field.fields, texts, faults)]] : []
    }
    const text = texts[field.path] ?? ''
    if (text === '' && field.kind !== 'list') {
      if (field.isRequired) faults.set(field.path, `'${field.path}' must be filled in.`)
      return []
    }
    if (text === '' && !field.isRequired) return []
    try {
      return [[field.name, valueOf(field, text)]]
    } catch (error) {
      faults.set(field.path, `${error instanceof Error ? error.message : String(error)}.`)
      return []
    }
  }))
}

/** Whether something was entered into a group: what is required in it is required only then. */
function isBegun ({ fields }: FormField, texts: Readonly<Record<string, string>>): boolean {
  return fields.some(field => field.kind === 'group' ? isBegun(field, texts) : (texts[field.path] ?? '') !== '')
}

function valueOf (field: FormField, text: string): unknown {
  const { path, kind, fields: [entry] } = field
  if (kind === 'text') return text
  if (kind === 'list' && entry !== undefined) {
    const lines = text.split('\n').filter(line => line.trim() !== '')
    return lines.map(line => entry.kind === 'choice' ? choiceOf(entry, line.trim()) : valueOf(entry, entry.kind === 'text' ? line : line.trim()))
  }
  try {
    return readWhole(text)
  } catch {
    throw new Error(`'${path}' must be ${kind === 'number' ? 'a number' : 'JSON, such as ["a", "b"]'}`)
  }
}

/** An entry of a list of choices, which is written as it is shown. */
function choiceOf ({ path, choices }: FormField, line: string): unknown {
  const found = choices.find(choice => choice === line || choice === JSON.stringify(line))
  if (found === undefined) throw new Error(`'${path}' takes ${choices.map(shownChoice).join(', ')}; '${line}' is none of them`)
  return readWhole(found)
}

/** A choice as people read it: a text without its quotes. */
export function shownChoice (choice: string): string {
  const value: unknown = JSON.parse(choice)
  return typeof value === 'string' ? value : choice
}

/** A name as a part of a path, in which a point divides. */
function segment (name: string): string {
  return name.replace(/[%.]/g, letter => letter === '.' ? '%2E' : '%25')
}

function isSchema (value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
