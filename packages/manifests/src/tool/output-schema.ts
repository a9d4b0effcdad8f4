import type { JsonSchema, Tool } from './tool.ts'

/**
 * What a tool answers with. Undefined unless its manifest says it and holds the tool to it: clients refuse an output that
 * differs.
 */
export function outputSchemaOf ({ run }: Tool): { type: 'object' } & JsonSchema | undefined {
  if (run.kind !== 'python' || run.outputs === undefined || !run.strictOutputs) return undefined
  return { type: 'object', properties: run.outputs, required: Object.keys(run.outputs) }
}
