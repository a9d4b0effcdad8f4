import type { TSchema } from 'typebox'
import { AgentcliManifest } from './agentcli/definition.ts'
import { ToolManifest } from './tool-manifest/definition.ts'

/** A JSON Schema of one format, for editors, and the name of its file in `packages/manifests/schemas`. */
export interface FormatSchema {
  file: string
  schema: Record<string, unknown>
}

/** The definitions that the loader itself uses, one for each format. */
const definitions: ReadonlyArray<{ file: string, title: string, definition: TSchema }> = [
  { file: 'agentcli.json', title: 'agentcli tools.json', definition: AgentcliManifest },
  { file: 'tool-manifest.json', title: 'Tool manifest', definition: ToolManifest }
]

/**
 * JSON Schemas of the formats of manifests (draft-07, which editors know best). `npm run schemas` writes them into the
 * repository.
 */
export function formatSchemas (): FormatSchema[] {
  return definitions.map(({ file, title, definition }) => ({
    file,
    schema: { $schema: 'http://json-schema.org/draft-07/schema#', title, ...withSchemaField(definition) }
  }))
}

/** A manifest may name its schema, so that editors find it. */
function withSchemaField (definition: TSchema): Record<string, unknown> {
  const plain = JSON.parse(JSON.stringify(definition)) as Record<string, unknown>
  return { ...plain, properties: { $schema: { type: 'string' }, ...plain['properties'] as object } }
}
