import { storedJson } from '@toolyard/contract/terms'
import type { TSchema } from 'typebox'
import { Type } from '@toolyard/contract/type'
import { AgentcliManifest } from './agentcli/definition.ts'
import { Declaration, Execution, Subcommands } from './skill/three-files/definitions.ts'
import { ToolsFile } from './skill/tools/tools-file.ts'
import { ToolManifest } from './tool-manifest/definition.ts'

/** A JSON Schema of one format, for editors, and the name of its file in `packages/manifests/schemas`. */
interface FormatSchema {
  file: string
  schema: Record<string, unknown>
}

/** The definitions that the loader itself uses, one for each file of a format. */
const definitions: ReadonlyArray<{ file: string, title: string, definition: TSchema }> = [
  { file: 'agentcli.json', title: 'agentcli tools.json', definition: AgentcliManifest },
  { file: 'tool-manifest.json', title: 'Tool manifest', definition: ToolManifest },
  { file: 'skill.json', title: 'tools.json of a skill', definition: ToolsFile },
  { file: 'skill-tools.json', title: 'tools.json of a skill with three files', definition: Type.Array(Declaration) },
  { file: 'skill-allowlist.json', title: 'allowlist.json of a skill', definition: Type.Record(Type.String(), Subcommands) },
  { file: 'skill-execution.json', title: 'execution.json of a skill', definition: Type.Array(Execution) }
]

/** JSON Schemas of the formats of manifests (draft-07, which editors know best). `npm run schemas` writes them into the repository. */
export function formatSchemas (): FormatSchema[] {
  return definitions.map(({ file, title, definition }) => ({
    file,
    schema: { $schema: 'http://json-schema.org/draft-07/schema#', title, ...storedJson<object>(JSON.stringify(definition)) }
  }))
}
