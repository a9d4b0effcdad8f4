import { join } from 'node:path'
import type { Test } from 'tap'
import { loadRegistry, type Finding, type Registry } from '@toolyard/manifests'

/** A manifest's entry that loads; tests change what they are about. */
export const entry = (fields: Record<string, unknown> = {}): Record<string, unknown> =>
  ({ name: 'probe', command: ['/bin/true'], ...fields })

/** Writes manifests, one directory each, and loads them in order, without the built-in tools unless asked for. */
export async function loadTexts (t: Test, texts: readonly string[], builtins = false): Promise<{ registry: Registry, files: string[] }> {
  const directory = t.testdir(Object.fromEntries(texts.map((text, layer) => [`layer-${layer}`, { 'tools.json': text }])))
  const files = texts.map((_, layer) => join(directory, `layer-${layer}`, 'tools.json'))
  return { registry: await loadRegistry({ manifests: files, builtins }), files }
}

/** Loads one manifest per list of entries. */
export async function loadLayers (
  t: Test, layers: ReadonlyArray<ReadonlyArray<Record<string, unknown> | null>>, builtins = false
): Promise<Registry> {
  return (await loadTexts(t, layers.map(tools => JSON.stringify({ tools })), builtins)).registry
}

export async function load (t: Test, ...entries: Array<Record<string, unknown> | null>): Promise<Registry> {
  return await loadLayers(t, [entries])
}

export function errors (registry: Registry): Finding[] {
  return registry.findings.filter(finding => finding.severity === 'error')
}

export function names (registry: Registry): string[] {
  return registry.all().map(({ tool }) => tool.name)
}

/** Loads one tool with a schema and returns its check of arguments. */
export async function validatorOf (t: Test, schema: Record<string, unknown>): Promise<NonNullable<ReturnType<Registry['get']>>['validate']> {
  const registry = await load(t, entry({ schema }))
  const tool = registry.get('probe')
  if (tool === undefined) throw new Error(`the schema was refused: ${errors(registry)[0]?.message}`)
  return args => tool.validate(args)
}
