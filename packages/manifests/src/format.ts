import { readdir, stat } from 'node:fs/promises'
import { extname, join } from 'node:path'

/** The formats of manifests, recognized from what a file holds. */
export type Format = 'agentcli' | 'tool-manifest' | 'skill'

/** A recognized format, and by what it was recognized. */
export interface Recognition {
  format: Format
  because: string
}

const agentcli: Recognition = { format: 'agentcli', because: 'nothing in it says otherwise' }
const yamlSuffixes = new Set(['.yaml', '.yml'])

/** Recognizes what is no JSON: a tool manifest may be YAML (P8), the other formats never are. */
export function recognizeText (file: string, text: string): Recognition {
  if (yamlSuffixes.has(extname(file).toLowerCase())) return { format: 'tool-manifest', because: 'it is YAML' }
  if (/^schema_version[ \t]*:/m.test(text)) return { format: 'tool-manifest', because: 'it has a line schema_version' }
  return agentcli
}

/**
 * Recognizes parsed JSON. An entry with `command` makes it agentcli, whatever else is there, since agentcli ignores
 * fields that it doesn't know (X21); else `execution` and `allowlist` are of skills (S4), `schema_version` and
 * `module` of tool manifests (P9, P15).
 */
export function recognizeValue (value: unknown): Recognition {
  if (!isRecord(value)) return agentcli
  const entries = Array.isArray(value['tools']) ? value['tools'].filter(isRecord) : []
  if (entries.some(entry => 'command' in entry)) return agentcli
  for (const key of ['execution', 'allowlist']) if (key in value) return { format: 'skill', because: `it has ${key}` }
  if ('schema_version' in value) return { format: 'tool-manifest', because: 'it has schema_version' }
  if (entries.some(entry => 'module' in entry)) return { format: 'tool-manifest', because: 'its tools have a module' }
  return agentcli
}

/** Recognizes a directory: a skill, or a directory of skills; undefined when `tools.json` decides. */
export async function recognizeDirectory (directory: string): Promise<Recognition | undefined> {
  if (await exists(join(directory, 'SKILL.md'))) return { format: 'skill', because: 'it has a SKILL.md' }
  if (await exists(join(directory, 'tools.json'))) return undefined
  const names = await readdir(directory).catch((): string[] => [])
  for (const name of names) {
    if (await exists(join(directory, name, 'SKILL.md'))) return { format: 'skill', because: `it holds the skill ${name}` }
  }
  return undefined
}

async function exists (path: string): Promise<boolean> {
  return await stat(path).then(() => true, () => false)
}

function isRecord (value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
