/** A field of a form that is made from a schema. */
export interface FormField {
  name: string
  /** What is shown for it: `json` is a text that holds JSON. */
  kind: 'text' | 'number' | 'boolean' | 'choice' | 'json'
  isRequired: boolean
  description: string
  /** What it begins as, as a text. */
  initial: string
  /** The texts of a choice's values, in order. */
  choices: readonly string[]
}

type Schema = Readonly<Record<string, unknown>>

/** The fields for a tool's arguments; undefined for a schema that says no fields, whose arguments are written as JSON. */
export function fieldsOf (schema: unknown): FormField[] | undefined {
  if (!isSchema(schema) || !isSchema(schema['properties'])) return undefined
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  return Object.entries(schema['properties']).map(([name, property]) => fieldOf(name, isSchema(property) ? property : {}, required.includes(name)))
}

function fieldOf (name: string, schema: Schema, isRequired: boolean): FormField {
  const { type, enum: values, description, default: initial } = schema
  const choices = Array.isArray(values) ? values.map(value => JSON.stringify(value)) : []
  const kind = choices.length > 0 ? 'choice' : type === 'string' ? 'text' : type === 'integer' || type === 'number' ? 'number' : type === 'boolean' ? 'boolean' : 'json'
  const text = initial === undefined ? '' : typeof initial === 'string' && kind === 'text' ? initial : JSON.stringify(initial)
  return { name, kind, isRequired, description: typeof description === 'string' ? description : '', initial: text, choices }
}

/**
 * The arguments that the texts of a form stand for. What is empty and not required is left out.
 *
 * @throws Error that names the field whose text is not what it should be.
 */
export function argumentsOf (fields: readonly FormField[], texts: Readonly<Record<string, string>>): Record<string, unknown> {
  return Object.fromEntries(fields.flatMap(field => {
    const text = texts[field.name] ?? ''
    if (text === '' && !(field.isRequired && field.kind === 'text')) return []
    return [[field.name, valueOf(field, text)]]
  }))
}

function valueOf ({ name, kind }: FormField, text: string): unknown {
  if (kind === 'text') return text
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw new Error(`'${name}' must be ${kind === 'number' ? 'a number' : 'JSON, such as ["a", "b"]'}`)
  }
}

function isSchema (value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
