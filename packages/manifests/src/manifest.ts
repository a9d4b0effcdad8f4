import { readAgentcli } from './agentcli/reader.ts'
import { ManifestFault } from './finding.ts'
import { recognizeDirectory, recognizeText, recognizeValue, type Format, type Recognition } from './format.ts'
import type { Layer, ManifestText } from './layer.ts'
import { manifestFile, parseManifest, readManifestText } from './manifest-file.ts'
import type { SchemaCompiler } from './schema/compiler.ts'
import type { SkillOptions } from './skill/options.ts'
import { readSkillOf, readSkills } from './skill/reader.ts'

/** Formats that can be read; one folder each. */
const readers: Partial<Record<Format, (manifest: ManifestText) => Promise<Layer>>> = { agentcli: readAgentcli }
const formatNames: Record<Format, string> = { agentcli: 'an agentcli manifest', 'tool-manifest': 'a tool manifest', skill: 'a skill' }
const formatRules: Record<Format, string> = { agentcli: 'A1', 'tool-manifest': 'P1', skill: 'S1' }

/** What the readers of all formats share. */
export interface ReaderTools {
  schemas: SchemaCompiler
  skills: SkillOptions
}

/** Reads one entry of `TOOL_MANIFESTS`. A manifest that can't be used yields a finding and no tools, and never throws. */
export async function readManifest (path: string, tools: ReaderTools): Promise<Layer> {
  const { file, directory } = await manifestFile(path)
  try {
    return await readLayer(file, directory, tools)
  } catch (error) {
    if (!(error instanceof ManifestFault)) throw error
    const { rule, message, place } = error
    return { entries: [], findings: [{ severity: 'error', file, rule, message, ...place }] }
  }
}

async function readLayer (file: string, directory: string | undefined, { schemas, skills }: ReaderTools): Promise<Layer> {
  if (directory !== undefined && await recognizeDirectory(directory) !== undefined) return await readSkills({ directory, options: skills, schemas })
  const text = await readManifestText(file)
  const value = parsed(file, text)
  const recognition = recognizeValue(value)
  if (recognition.format === 'skill') return await readSkillOf(file, { options: skills, schemas })
  const read = readers[recognition.format]
  if (read === undefined) throw unreadable(recognition)
  return await read({ file, value, schemas })
}

/** JSON first: a file that isn't may be a format that allows more. */
function parsed (file: string, text: string): unknown {
  try {
    return parseManifest(text)
  } catch (error) {
    const recognition = recognizeText(file, text)
    throw readers[recognition.format] === undefined ? unreadable(recognition) : error
  }
}

function unreadable ({ format, because }: Recognition): ManifestFault {
  return new ManifestFault(formatRules[format], `this is ${formatNames[format]} (${because}); this version reads agentcli manifests and skills, so none of its tools is loaded`, {
    fix: 'Declare the tools in an agentcli tools.json, or take the path out of TOOL_MANIFESTS.'
  })
}
