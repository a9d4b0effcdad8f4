import type { JsonSchema, Tool } from './tool.ts'

/** Undefined unless the tool's manifest says it and holds the tool to it: clients refuse an output that differs. */
export function outputSchemaOf ({ run }: Tool): { type: 'object' } & JsonSchema | undefined {
  // Schemas that aren't of an object were left out when the manifest was read.
  if (run.kind === 'mcp' && run.outputSchema !== undefined) return { ...run.outputSchema, type: 'object' }
  if (run.kind !== 'python' || run.outputs === undefined || !run.strictOutputs) return undefined
  return { type: 'object', properties: run.outputs, required: Object.keys(run.outputs) }
}
