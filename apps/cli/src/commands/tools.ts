import { resolve } from 'node:path'
import type { LayerStep, Registry, Tool } from '@toolyard/manifests'
import { jsonOption, type Command } from '../terminal/command.ts'
import { CommandError } from '../terminal/exit-status.ts'
import { complain, print } from '../terminal/terminal.ts'
import { toolLine } from '../terminal/tool-line.ts'

/** `toolyard tools`: what a service publishes, or would publish with these settings. */
export const tools: Command = {
  name: 'tools',
  summary: 'List the tools of the service that runs, or of manifests',
  help: `Lists the tools that the service offers to your key, and says which service it asked: the one at TOOLYARD_URL, else the one of
the settings, which .env in the working directory may have.

With --manifests, or when manifests are named, it asks no service: it lists what one with these settings (TOOL_MANIFESTS, .env)
would publish to a key with all permissions that PERMISSIONS_ALLOWED has, and knows nothing of what was switched at run time.`,
  arguments: ['[manifests...]'],
  options: [
    ['--manifests', 'read TOOL_MANIFESTS instead of asking the service'],
    ['--openai', 'print the OpenAI function specs as JSON'],
    ['--explain <name>', 'tell which layers of the manifests declare a tool, which one wins, and what it overrode'],
    jsonOption
  ],
  run: async ({ options, args }) => {
    const asData = options['openai'] === true || options['json'] === true
    if (args.length > 0 || options['manifests'] === true || options['explain'] !== undefined) return await fromManifests(args, options['explain'], asData)
    const { listTools } = await import('../remote/list-tools.ts')
    return await listTools(asData)
  }
}

async function fromManifests (manifests: readonly string[], name: unknown, asData: boolean): Promise<number> {
  const { heldPermissions, hostsBeyond, loadRegistry, toolSpec } = await import('@toolyard/manifests')
  const { loadEnvFile, permissionPolicyOf, readSettings, sampleManifests, toolSourcesOf } = await import('@toolyard/runtime')
  const { permissionsBeyond } = await import('@toolyard/contract/terms')
  loadEnvFile()
  const settings = readSettings(process.env)
  const sources = toolSourcesOf({ ...settings, TOOL_MANIFESTS: settings.TOOL_MANIFESTS ?? sampleManifests().split(',') }, process.env)
  const registry = await loadRegistry(manifests.length === 0 ? sources : { ...sources, manifests })
  refuseUnserved(manifests, registry)
  const policy = permissionPolicyOf(settings)
  const beyond = (tool: Tool): string[] => [
    ...told('PERMISSIONS_ALLOWED', permissionsBeyond(heldPermissions(tool, policy), policy)), ...told('EGRESS_ALLOWED', hostsBeyond(tool, policy))
  ]
  if (typeof name === 'string') return explain(name, registry, beyond)
  const usable = registry.published().map(({ tool }) => tool).filter(tool => beyond(tool).length === 0)
  const found = usable.filter(({ run }) => run.kind !== 'service' || (run.action !== 'search_tools' && run.action !== 'call_tool'))
  // As in the lists of the service.
  const listed = found.length > settings.CATALOGUE_LIST_MAX ? usable : found
  if (asData) {
    print(JSON.stringify(listed.map(tool => toolSpec(tool)), null, 2))
    warnOfErrors(registry)
  } else print(overview(listed, registry))
  return 0
}

/** Who names a manifest asks for its tools: one of which nothing is served has none to list. */
function refuseUnserved (named: readonly string[], { findings }: Registry): void {
  const files = named.flatMap(path => [resolve(path), resolve(path, 'tools.json')])
  const unserved = findings.filter(({ whole, file }) => whole === true && files.includes(file))
  if (unserved.length > 0) throw new CommandError(unserved.map(({ file, message }) => `${file}: ${message}`).join('\n'))
}

function overview (listed: readonly Tool[], registry: Registry): string {
  const published = [...listed].sort((a, b) => a.name < b.name ? -1 : 1)
  if (published.length === 0) return 'No tools enabled'
  const lines = published.map(toolLine)
  const errors = errorsNote(registry)
  const note = errors === undefined ? [] : ['', errors]
  return ['Capabilities (enabled tools):', ...lines, ...note].join('\n')
}

function errorsNote ({ findings }: Registry): string | undefined {
  const errors = findings.filter(finding => finding.severity === 'error').length
  return errors === 0 ? undefined : `${errors} ${errors === 1 ? 'error' : 'errors'} in manifests; toolyard validate tells them.`
}

/** A broken file may hold more than what is shown. */
function warnOfErrors (registry: Registry): void {
  const note = errorsNote(registry)
  if (note !== undefined) complain(`toolyard tools: ${note}`)
}

function explain (name: string, registry: Registry, beyond: (tool: Tool) => string[]): number {
  const explanation = registry.explain(name)
  warnOfErrors(registry)
  if (explanation === undefined) {
    complain(`toolyard tools: no manifest that can be read declares a tool named '${name}'`)
    return 1
  }
  const { tool, published, steps, findings } = explanation
  const state = tool === undefined ? `is not served: ${steps.some(({ did }) => did === 'left out') ? 'its skill is replaced' : 'every declaration is broken'}` : stateOf(tool, published === true, beyond(tool))
  print(`${name} ${state}`)
  if (tool !== undefined) print(`  job type  ${tool.jobType}\n  from      ${tool.source.file} (entry ${tool.source.index})${tool.audit === undefined ? '' : `\n  added as  ${tool.audit}`}`)
  print('  layers, in order:')
  for (const step of steps) print(`    ${describeStep(step)}`)
  for (const finding of findings) print(`  ${finding.severity} ${finding.rule}: ${finding.message}`)
  return 0
}

function told (setting: string, lacking: readonly string[]): string[] {
  return lacking.length === 0 ? [] : [`${setting} does not have ${lacking.join(', ')}`]
}

function stateOf (tool: Tool, published: boolean, beyond: readonly string[]): string {
  if (!published) return tool.enabled ? 'is not published' : 'is disabled'
  return beyond.length === 0 ? 'is published' : `is not published: ${beyond.join(', and ')}`
}

function describeStep ({ layer, file, index, did, because }: LayerStep): string {
  const place = layer === undefined ? 'built-in' : `layer ${layer}`
  return `${place}: ${did}${did === 'left out' ? ', from' : ' by'} ${file}${layer === undefined ? '' : ` (entry ${index})`}${because === undefined ? '' : `, since ${because}`}`
}
