import { readdir } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { loadRegistry, skillNeeds, type Registry, type Skill, type Tool } from '@toolyard/manifests'
import { CommandError } from '../terminal/exit-status.ts'

const shownScripts = 20

/**
 * What models would read of something that isn't served yet, and what may run: a text for whoever decides.
 *
 * @throws CommandError where there is nothing to serve.
 */
export async function reviewOf (directory: string): Promise<string[]> {
  // What may run is shown, also where scripts are still to be switched on.
  const registry = await loadRegistry({ manifests: [directory], builtins: false, everyFault: true, skills: { path: process.env['PATH'] ?? '', allowScripts: true } })
  const errors = registry.findings.filter(({ severity }) => severity === 'error')
  const skills = registry.skills()
  const own = registry.all().map(({ tool }) => tool).filter(({ run }) => run.kind !== 'read-skill' && run.kind !== 'skill-run')
  if (skills.length + own.length + registry.servers().length === 0) {
    throw new CommandError([`It holds no skill and no manifest that can be served.${errors.length === 0 ? '' : ' Why:'}`, ...errors.map(({ file, message }) => `  ${relative(directory, file)}: ${message}`)].join('\n'), { code: 'SOURCE' })
  }
  const lines: string[] = []
  for (const skill of skills) lines.push(...await skillLines(skill, directory))
  return [
    ...lines,
    ...own.flatMap(toolLines),
    ...serverLines(registry),
    ...errors.map(({ file, message }) => `not served: ${relative(directory, file)}: ${message}`)
  ]
}

async function skillLines (skill: Skill, directory: string): Promise<string[]> {
  const { name, description, text, file, frontMatter, hasFiles } = skill
  const place = dirname(file)
  const scripts = hasFiles ? (await readdir(join(place, 'scripts'), { recursive: true, withFileTypes: true }).catch(() => [])).filter(entry => entry.isFile()).map(entry => relative(place, join(entry.parentPath, entry.name))).sort() : []
  const needs = hasFiles ? await skillNeeds(skill) : undefined
  const allowed = frontMatter['allowed-tools']
  return [
    `skill ${name} (${relative(directory, file)}, ${text.length} characters for models)`,
    `    ${description === '' ? '(no description)' : description.replace(/\s+/g, ' ')}`,
    ...scripts.length === 0 ? [] : [`    may run: ${scripts.slice(0, shownScripts).join(', ')}${scripts.length > shownScripts ? ` and ${scripts.length - shownScripts} more` : ''}`],
    ...needs === undefined || needs.programs.length === 0 ? [] : [`    programs: ${needs.programs.join(', ')}`],
    ...needs === undefined || needs.python.length === 0 ? [] : [`    modules of Python: ${needs.python.join(', ')}`],
    ...allowed === undefined ? [] : [`    says itself: allowed-tools ${typeof allowed === 'string' ? allowed : JSON.stringify(allowed)}`]
  ]
}

function toolLines ({ name, description, permissions, unavailable, run }: Tool): string[] {
  return [
    `tool ${name}: ${description === '' ? '(no description)' : description.replace(/\s+/g, ' ')}`,
    unavailable !== undefined ? `    can't run: ${unavailable}` : `    runs ${runText(run)}; permissions: ${permissions === undefined ? 'TOOL_DEFAULT_PERMISSIONS' : permissions.length === 0 ? 'none' : permissions.join(', ')}`
  ]
}

function runText (run: Tool['run']): string {
  switch (run.kind) {
    case 'command': return [run.program, ...run.args].join(' ')
    case 'skill': return `${run.binary} ${run.subcommand}`
    case 'skill-command': return [...new Set(run.executions.map(({ wrapper, binary, subcommand }) => [...wrapper, binary, subcommand].join(' ').trim()))].join(' or ')
    case 'python': return `Python ${run.module}`
    case 'http': return `${run.method} ${run.origin}`
    default: return run.kind
  }
}

function serverLines (registry: Registry): string[] {
  return registry.servers().map(({ name, connection }) => (
    `MCP server ${name}: ${connection.kind === 'stdio' ? [connection.program, ...connection.args].join(' ') : typeof connection.url === 'string' ? connection.url : `a URL in ${'setting' in connection.url ? connection.url.setting : `the secret ${connection.url.secret}`}`}; its tools are published once toolyard accept has shown them`
  ))
}
