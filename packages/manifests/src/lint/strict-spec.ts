import type { ToolSpec } from '@toolyard/contract'
import { toolSpec } from '../tool/tool-spec.ts'
import type { Tool } from '../tool/tool.ts'
import { strictForm } from './strict-form.ts'
import type { StrictRules } from './strict-limits.ts'

/** A tool as models read it, that asks them to keep to its schema exactly. */
type StrictToolSpec = ToolSpec & { function: { strict: true } }

/**
 * The spec of a tool with the strict form of its schema; undefined when it has none, and the plain spec is the one to
 * serve. Models send null for optional arguments then: `withoutStrictNulls` takes these away again.
 */
export function strictToolSpec (tool: Tool, rules?: StrictRules): StrictToolSpec | undefined {
  const form = strictForm(tool.parameters, rules)
  if ('refused' in form) return undefined
  const spec = toolSpec(tool)
  return { ...spec, function: { ...spec.function, parameters: form.schema, strict: true } }
}
