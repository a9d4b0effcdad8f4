import { join } from 'node:path'
import type { Test } from 'tap'
import { loadRegistry, type Finding, type Registry, type Tool } from '@toolyard/manifests'
import { writeFiles } from '../support/files.ts'

/** Every sound tool manifest has this beside its tools. */
export const head = { schema_version: '1.0', metadata: { name: 'test', description: 'For tests.' } }

/** An entry that loads in `project`; tests change what they are about. */
export const descriptor = (fields: Record<string, unknown> = {}): Record<string, unknown> =>
  ({ name: 'probe', description: 'Looks at something.', module: 'mods.probe', ...fields })

/** A whole manifest of the entries. */
export const manifestOf = (...tools: unknown[]): Record<string, unknown> => ({ ...head, tools })

/** Writes a project: `mods/probe.py`, and the files given, objects as JSON. Returns its directory. */
export function project (t: Test, files: Record<string, unknown> = {}): string {
  return writeFiles(t.testdir({ mods: { 'probe.py': 'class Probe(Tool):\n    pass\n' } }), files)
}

/** Loads manifests of a project that consists of them, in order, without the built-in tools. */
export async function loadProject (t: Test, files: Record<string, unknown>, builtins = false): Promise<Registry> {
  const directory = project(t, files)
  return await loadRegistry({ manifests: Object.keys(files).map(name => join(directory, name)), builtins })
}

/** Loads one tool manifest of the entries. */
export async function loadTools (t: Test, ...tools: unknown[]): Promise<Registry> {
  return await loadProject(t, { 'config/tools.json': manifestOf(...tools) })
}

/** The one tool of an entry that must load without a finding. */
export async function soundTool (t: Test, fields: Record<string, unknown>): Promise<Tool> {
  const registry = await loadTools(t, descriptor(fields))
  const [tool] = registry.all()
  if (tool === undefined || registry.findings.length > 0) throw new Error(JSON.stringify(registry.findings))
  return tool.tool
}

/** Findings as `severity rule message`. */
export function told ({ findings }: { findings: readonly Finding[] }): string[] {
  return findings.map(({ severity, rule, message }) => `${severity} ${rule} ${message}`)
}
