import { isRecord, writtenLike } from '@toolyard/contract/terms'
import type { JsonSchema } from '../../tool/tool.ts'

/**
 * Choices none of which is of the type leave no value that fits. Those of a list are meant for its items, those of a text as they
 * are written; of other types they are descriptions, such as `0 (User)`.
 */
export function withUsableEnum (schema: JsonSchema): JsonSchema {
  const { type, enum: values, ...rest } = schema
  if (!Array.isArray(values) || typeof type !== 'string' || values.some(value => isOfType(value, type))) return schema
  if (type === 'string') return writtenLike({ ...rest, enum: values }, schema)
  const { items } = rest
  return writtenLike({ ...rest, type, ...type === 'array' && { items: { ...isRecord(items) && items, enum: values } } }, schema)
}

function isOfType (value: unknown, type: string): boolean {
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isRecord(value)
  // A number with more digits than a double has is an object here.
  const kind = isRecord(value) ? 'number' : typeof value
  return kind === (type === 'integer' ? 'number' : type)
}
