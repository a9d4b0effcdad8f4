import { isRecord } from '@toolyard/contract/terms'
import type { JsonSchema } from '../tool/tool.ts'

/**
 * A schema whose properties are objects. The SDK of MCP refuses a whole list for one that is `true` or `false`, and so does Ollama
 * a request. The schema is not changed.
 */
export function withObjectProperties (schema: JsonSchema): JsonSchema {
  const { properties } = schema
  if (!isRecord(properties) || !Object.values(properties).some(each => typeof each === 'boolean')) return schema
  // A copy by spread keeps how names and numbers were written.
  const objects: Record<string, unknown> = { ...properties }
  for (const name of Object.keys(objects)) if (typeof objects[name] === 'boolean') objects[name] = objects[name] ? {} : { not: {} }
  return { ...schema, properties: objects }
}
