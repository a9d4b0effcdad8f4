import { lostText } from '@toolyard/contract/terms'
import { _, type FuncKeywordDefinition } from 'ajv'
import { canonical, type CountSteps } from './canonical.ts'

/**
 * `enum` and `const`. Those of Ajv call what an object has under the names toString and valueOf, and take objects with the same
 * fields for different ones where they have a field `constructor`, or inherit nothing.
 */
export function equalityKeywords (count: CountSteps): readonly FuncKeywordDefinition[] {
  return [
    {
      keyword: 'enum',
      schemaType: 'array',
      error: { message: 'is none of its values', params: ({ schemaValue }) => _`{allowedValues: ${schemaValue}}` },
      compile: (values: unknown[]) => {
        if (values.length === 0) throw new Error('enum must have non-empty array')
        return isAmong(values, count)
      }
    },
    {
      keyword: 'const',
      error: { message: 'is another value', params: ({ schemaValue }) => _`{allowedValue: ${schemaValue}}` },
      compile: (only: unknown) => isAmong([only], count)
    }
  ]
}

type Compiled = ReturnType<NonNullable<FuncKeywordDefinition['compile']>>

/** A number that a double can't hold is compared as it was written. */
function isAmong (values: readonly unknown[], count: CountSteps): Compiled {
  const plain = new Set(values)
  const texts = new Set(values.map(each => canonical(each, () => {})))
  return (value: unknown, context) => {
    const written = context === undefined ? undefined : lostText(context.parentData, context.parentDataProperty)
    if (written !== undefined) return texts.has(written)
    return typeof value === 'object' && value !== null ? texts.has(canonical(value, count)) : plain.has(value)
  }
}
