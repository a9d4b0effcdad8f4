import type { JsonSchema, ServiceRun, Tool } from '../tool/tool.ts'

/** A built-in tool's own part; the rest is the same for all of them. */
export type BuiltinDeclaration = Pick<Tool, 'name' | 'jobType' | 'description' | 'parameters' | 'permissions'> & {
  timeoutSec: number
  /** Whether running it again for the same job does no harm; false when absent. */
  idempotent?: true
  /** The API's action, where no worker runs it. */
  action?: ServiceRun['action']
}

/** The schema of arguments that has these, and no others. */
export function closedObject (properties: object, required?: readonly string[]): JsonSchema {
  return { type: 'object', properties, ...required !== undefined && { required }, additionalProperties: false }
}
