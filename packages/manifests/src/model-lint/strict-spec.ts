import type { ToolSpec } from '@toolyard/contract'
import { toolSpec } from '../tool-spec.ts'
import type { JsonSchema, Tool } from '../tool.ts'
import { strictForm } from './strict-form.ts'

/** A tool as models read it, that asks them to keep to its schema exactly. */
export type StrictToolSpec = ToolSpec & { function: { strict: true } }

/**
 * The spec of a tool with the strict form of its schema; undefined when it has none, and the plain spec is the one to
 * serve. Models send null for optional arguments then: `withoutStrictNulls` takes these away again.
 */
export function strictToolSpec (tool: Tool): StrictToolSpec | undefined {
  const form = strictForm(tool.parameters)
  if ('refused' in form) return undefined
  const spec = toolSpec(tool)
  return { ...spec, function: { ...spec.function, parameters: form.schema, strict: true } }
}

/**
 * Arguments without the nulls that stand for "none" in strict mode: those of optional properties whose schema doesn't
 * take null. Goes into `properties` and `items`; the arguments are not changed.
 */
export function withoutStrictNulls (schema: JsonSchema, args: Record<string, unknown>): Record<string, unknown> {
  return stripped(schema, args) as Record<string, unknown>
}

function stripped (schema: unknown, value: unknown): unknown {
  if (!isRecord(schema)) return value
  if (Array.isArray(value)) return value.map(item => stripped(schema['items'], item))
  const { properties, required = [] } = schema
  if (!isRecord(value) || !isRecord(properties)) return value
  const isIdle = (name: string, item: unknown) =>
    item === null && Object.hasOwn(properties, name) && !(required as unknown[]).includes(name) && !takesNull(properties[name])
  return Object.fromEntries(Object.entries(value)
    .filter(([name, item]) => !isIdle(name, item))
    .map(([name, item]) => [name, Object.hasOwn(properties, name) ? stripped(properties[name], item) : item]))
}

function takesNull (schema: unknown): boolean {
  if (!isRecord(schema)) return schema !== false
  const { type, enum: values, anyOf, oneOf } = schema
  if (Array.isArray(values)) return values.includes(null)
  if (type !== undefined) return [type].flat().includes('null')
  if ('const' in schema) return schema['const'] === null
  const choices: unknown = anyOf ?? oneOf
  return Array.isArray(choices) && choices.some(takesNull)
}

function isRecord (value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
