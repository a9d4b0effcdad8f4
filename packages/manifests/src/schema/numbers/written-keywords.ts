import { compareNumbers, isMultiple, isWritten, losesValue, numberText } from '@toolyard/contract/terms'
import { _, type FuncKeywordDefinition } from 'ajv'

/*
 * Keywords that compare numbers, for arguments with numbers that a double can't hold: what counts is how they were written.
 */

type Validate = NonNullable<FuncKeywordDefinition['validate']>

/** These replace Ajv's own. */
export const writtenKeywords: readonly FuncKeywordDefinition[] = [
  bound('minimum', 'is less than its minimum, as it is written', order => order >= 0),
  bound('maximum', 'is more than its maximum, as it is written', order => order <= 0),
  bound('exclusiveMinimum', 'is not more than its exclusive minimum, as it is written', order => order > 0),
  bound('exclusiveMaximum', 'is not less than its exclusive maximum, as it is written', order => order < 0),
  {
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    error: { message: 'is no multiple of what its schema says, as it is written' },
    validate: (of: number, value: number, _schema, context) => isMultiple(textOf(value, context), of) === true
  },
  {
    keyword: 'enum',
    schemaType: 'array',
    error: { message: 'is none of its values', params: ({ schemaValue }) => _`{allowedValues: ${schemaValue}}` },
    validate: (values: unknown[], value: unknown, _schema, context) => (
      values.some(each => canonical(each) === canonicalMember(value, context))
    )
  },
  {
    keyword: 'const',
    error: { message: 'is another value', params: ({ schemaValue }) => _`{allowedValue: ${schemaValue}}` },
    validate: (only: unknown, value: unknown, _schema, context) => canonical(only) === canonicalMember(value, context)
  },
  {
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    error: { message: 'must not have equal items' },
    validate: (wanted: boolean, items: unknown[]) => !wanted || new Set(items.map((_, at) => member(items, at))).size === items.length
  }
]

function bound (keyword: string, message: string, fits: (order: number) => boolean): FuncKeywordDefinition {
  const validate: Validate = (limit: number, value: number, _schema, context) => fits(compareNumbers(textOf(value, context), String(limit)))
  return { keyword, type: 'number', schemaType: 'number', error: { message }, validate }
}

type Context = Parameters<Validate>[3]

function textOf (value: number, context: Context): string {
  return (context === undefined ? undefined : numberText(context.parentData, context.parentDataProperty)) ?? String(value)
}

function canonicalMember (value: unknown, context: Context): string {
  return typeof value === 'number' ? canonicalNumber(value, textOf(value, context)) : canonical(value)
}

/** JSON with sorted keys, in which digits that a double loses stand as they were written. */
function canonical (value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((_, at) => member(value, at)).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return `{${Object.keys(value).sort().map(name => `${JSON.stringify(name)}:${member(value, name)}`).join(',')}}`
}

function member (container: object, name: string | number): string {
  const value: unknown = Reflect.get(container, name)
  return typeof value === 'number' && isWritten(container) ? canonicalNumber(value, numberText(container, name)) : canonical(value)
}

function canonicalNumber (value: number, text: string | undefined): string {
  return text !== undefined && losesValue(text) ? text : String(value)
}
