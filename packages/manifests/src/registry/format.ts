import { isRecord } from '@toolyard/contract/terms'
import { stat } from 'node:fs/promises'
import { extname, join, relative } from 'node:path'
import { ManifestFault } from '../finding/finding.ts'
import { entryKind } from '../agentcli/entry-kinds.ts'
import { isSkillDirectory, skillDocument, skillTree } from '../skill/tree.ts'

/** The formats of manifests, recognized from what a file holds. */
export type Format = 'agentcli' | 'tool-manifest' | 'skill'

export interface Recognition {
  format: Format
  because: string
}

export const agentcliByDefault: Recognition = { format: 'agentcli', because: 'nothing in it says otherwise' }
const yamlSuffixes = new Set(['.yaml', '.yml'])

/** Whether a text that is no JSON is meant as YAML: by the suffix of the file, or by a line that only a tool manifest has. */
export function isYaml (file: string, text: string): boolean {
  return yamlSuffixes.has(extname(file).toLowerCase()) || /^(?:schema_version|metadata|tools)[ \t]*:/m.test(text)
}

/** Whether a text that is neither JSON nor YAML is meant as a tool manifest. */
export function mentionsToolManifest (text: string): boolean {
  return /"schema_version"[ \t]*:/.test(text)
}

/**
 * Recognizes a parsed document. An entry with `command` (or of a kind that stands in its place) makes it agentcli,
 * whatever else is there, since agentcli ignores fields that it doesn't know; else `execution` and `allowlist` are
 * of skills, `schema_version`, `metadata` and `module` of tool manifests.
 */
export function recognizeValue (value: unknown): Recognition {
  if (!isRecord(value)) return agentcliByDefault
  const entries = Array.isArray(value['tools']) ? value['tools'].filter(isRecord) : []
  if (entries.some(entry => 'command' in entry)) return { format: 'agentcli', because: 'its tools have a command' }
  if (entries.some(entry => entryKind(entry) !== undefined)) return { format: 'agentcli', because: 'its tools have what stands in place of a command' }
  for (const key of ['execution', 'allowlist']) if (key in value) return { format: 'skill', because: `it has ${key}` }
  for (const key of ['schema_version', 'metadata']) if (key in value) return { format: 'tool-manifest', because: `it has ${key}` }
  if (entries.some(entry => 'module' in entry)) return { format: 'tool-manifest', because: 'its tools have a module' }
  return agentcliByDefault
}

/** A document that describes an API is no manifest, and its fields aren't mistakes in writing one. */
export function refuseApiDocument (value: unknown): void {
  if (!isRecord(value) || 'tools' in value || ![value['openapi'], value['swagger']].some(version => typeof version === 'string')) return
  throw new ManifestFault('A1', 'this is an OpenAPI document, which is no manifest', { fix: 'Run toolyard import openapi FILE --out tools.json, and name tools.json here.' })
}

/** Recognizes a directory: a skill, or a directory of skills; undefined when `tools.json` decides. */
export async function recognizeDirectory (directory: string): Promise<Recognition | undefined> {
  if (await skillDocument(directory) !== undefined) return { format: 'skill', because: 'it has a SKILL.md' }
  if (await isSkillDirectory(directory)) return { format: 'skill', because: 'it holds versions of a skill' }
  if (await stat(join(directory, 'tools.json')).then(() => true, () => false)) return undefined
  const tree = await skillTree(directory, 1).catch(() => undefined)
  const [first] = tree?.skills ?? []
  if (first === undefined) return tree === undefined || tree.findings.length === 0 ? undefined : { format: 'skill', because: 'it holds links to skills' }
  return { format: 'skill', because: `it holds the skill ${relative(directory, first)}` }
}
