import { grouped } from '@toolyard/contract/terms'
import { dirname } from 'node:path'
import type { Finding } from '../finding/finding.ts'
import type { Layer, LayerEntry, ToolEntry } from '../layer/layer.ts'
import type { Skill } from '../layer/skill.ts'
import type { Tool } from '../tool/tool.ts'
import type { RegisteredTool } from './registration.ts'

/** As much of a registry as is compared. */
interface Served {
  readonly layers: readonly Layer[]
  all (): readonly RegisteredTool[]
  get (name: string): RegisteredTool | undefined
}

/** The layers that were read last, and the errors for which something in them is as it was before. */
interface KeptLayers {
  layers: Layer[]
  errors: Finding[]
}

/**
 * A new version of the manifests must not take this away: tools that were served and that an error takes from it stay as
 * they were. All else is taken as at the start. A file, or a directory of skills, that can't be read as a whole stays as a whole.
 */
export function keptLayers (before: Served, next: Served): KeptLayers {
  const lost = new Set(before.all().map(({ tool }) => tool).filter(tool => isServed(before, tool) && !isServed(next, tool)))
  const kept: KeptLayers = { layers: [], errors: [] }
  for (const [at, layer] of next.layers.entries()) {
    // A lock may name more or fewer manifests than before.
    const old = before.layers.find(({ files }) => files?.[0] === layer.files?.[0]) ?? before.layers[at]
    // An entry that the lock no longer has must not be served.
    const found = layer.findings.filter(({ severity, rule }) => severity === 'error' && rule !== 'lock/differs')
    const keeping = { found, isUnread: layer.isUnread === true, lost, kept }
    kept.layers.push(old === undefined || found.length === 0 ? layer : withSkills(withEntries(layer, old, keeping), old, keeping))
  }
  return { layers: kept.layers, errors: [...new Set(kept.errors)] }
}

interface Keeping {
  found: readonly Finding[]
  /** They are about all of the layer. */
  isUnread: boolean
  lost: ReadonlySet<Tool>
  kept: KeptLayers
}

function withEntries (layer: Layer, old: Layer, { found, isUnread, lost, kept }: Keeping): Layer {
  const errorsOf = errorsByTool(found)
  const taken = (tool: Tool): readonly Finding[] => !lost.has(tool) ? [] : isUnread ? found : errorsOf(tool)
  const entries = old.entries.filter((entry): entry is ToolEntry => entry.kind === 'tool' && taken(entry.tool).length > 0)
  const errors = entries.flatMap(({ tool }) => taken(tool))
  if (errors.length === 0) return layer
  for (const error of errors) kept.errors.push(error)
  if (errors.some(({ whole }) => whole === true)) {
    return { ...old, findings: layer.findings, files: [...new Set([...layer.files ?? [], ...old.files ?? []])] }
  }
  const names = new Set(entries.map(({ tool }) => tool.name))
  const others = layer.entries.filter(entry => entry.kind === 'switch' || !names.has(entry.tool.name))
  return { ...layer, entries: [...others, ...entries].sort((one, other) => indexOf(one) - indexOf(other)) }
}

/** A skill stays with all of its tools. */
function withSkills (layer: Layer, old: Layer, { found, isUnread, lost, kept }: Keeping): Layer {
  const now = layer.skills ?? []
  const namesNow = new Set(now.map(({ name }) => name))
  const byDirectory = grouped(found, error => dirname(error.file))
  const about = ({ name, file, tools }: Skill): readonly Finding[] => {
    const stays = namesNow.has(name) && !tools.some(tool => lost.has(tool))
    return stays ? [] : isUnread ? found : byDirectory.get(dirname(file)) ?? []
  }
  const skills = (old.skills ?? []).filter(skill => about(skill).length > 0)
  if (skills.length === 0) return layer
  for (const error of skills.flatMap(about)) kept.errors.push(error)
  const names = new Set(skills.map(({ name }) => name))
  return { ...layer, skills: [...now.filter(({ name }) => !names.has(name)), ...skills] }
}

function isServed (registry: Served, { name, source }: Tool): boolean {
  const found = registry.get(name)?.tool
  return found !== undefined && found.unavailable === undefined && found.source.file === source.file
}

function indexOf (entry: LayerEntry): number {
  return entry.kind === 'switch' ? entry.index : entry.tool.source.index
}

/** An error of the whole file takes all of its tools; one of an entry, the tool that it names or that stood there. */
function errorsByTool (found: readonly Finding[]): (tool: Tool) => Finding[] {
  const byKey = grouped(found, ({ file, whole, tool, index }) => keyOf(file, whole === true ? 'all' : tool !== undefined ? `tool ${tool}` : index ?? 'all'))
  return ({ name, source: { file, index } }) => ['all', `tool ${name}`, index].flatMap(about => byKey.get(keyOf(file, about)) ?? [])
}

function keyOf (file: string, about: string | number): string {
  return `${file}\0${about}`
}
