import { compareNumbers, isMultiple, numberText } from '@toolyard/contract/terms'
import type { FuncKeywordDefinition } from 'ajv'

/*
 * Keywords that compare numbers, for arguments with numbers that a double can't hold: what counts is how they were written.
 */

type Validate = NonNullable<FuncKeywordDefinition['validate']>

/** These replace Ajv's own. */
export function writtenKeywords (): readonly FuncKeywordDefinition[] {
  return [
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
    }
  ]
}

function bound (keyword: string, message: string, fits: (order: number) => boolean): FuncKeywordDefinition {
  const validate: Validate = (limit: number, value: number, _schema, context) => fits(compareNumbers(textOf(value, context), String(limit)))
  return { keyword, type: 'number', schemaType: 'number', error: { message }, validate }
}

type Context = Parameters<Validate>[3]

function textOf (value: number, context: Context): string {
  return (context === undefined ? undefined : numberText(context.parentData, context.parentDataProperty)) ?? String(value)
}
