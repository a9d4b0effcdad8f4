import { readdir } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { isPublishableName } from '@toolyard/contract/terms'
import { loadRegistry, skillNeeds, type Finding, type McpServer, type Registry, type Skill, type Tool } from '@toolyard/manifests'
import { CommandError } from '../terminal/exit-status.ts'
import { schemaTexts } from '../accept/schema-texts.ts'
import { needsOfServer, needsOfTool, permissionText } from './needs.ts'
import { differs, folded } from './unpack.ts'

/** Names of files that are shown in one line. */
const shownNames = 20
/** As the format has it. */
const skillName = /^[a-z0-9-]{1,64}$/
const unfitName = 'no model can call it: names have 1 to 64 letters, digits, "_" and "-"'

/**
 * The texts for models of something that isn't served yet, and what may run: a text for whoever decides.
 *
 * @param others directories of what was added before, by their names in the lock
 * @throws CommandError where there is nothing to serve, or a skill has the name of another one.
 */
export async function reviewOf (directory: string, others: ReadonlyMap<string, string>): Promise<string[]> {
  // Programs are shown, also where scripts are still to be switched on.
  const registry = await loadRegistry({ manifests: [directory], builtins: false, everyFault: true, skills: { path: process.env['PATH'] ?? '', allowScripts: true } })
  const errors = registry.findings.filter(({ severity }) => severity === 'error')
  const skills = registry.skills()
  // Tools of a server that a lock of the source has are accepted by nobody here.
  const own = registry.all().map(({ tool }) => tool).filter(({ run }) => !['read-skill', 'skill-run', 'mcp'].includes(run.kind))
  const settings = settingLines(registry)
  if (skills.length + own.filter(isCallable).length + registry.servers().length + settings.length === 0) {
    throw new CommandError([`It holds no skill and no manifest that can be served.${errors.length === 0 ? '' : ' Why:'}`, ...own.map(tool => `  tool ${tool.name}: ${unfitName}`), ...errors.map(error => `  ${saidOf(error, directory)}`)].join('\n'), { code: 'SOURCE' })
  }
  const twice = registry.findings.find(({ rule }) => rule === 'SC21')
  if (twice !== undefined) throw new CommandError(`${relative(directory, twice.file)}: ${twice.message}. Two skills of one name can't be told apart; nothing was added. Add the directory of one of them.`.replaceAll(`${directory}/`, ''), { code: 'SOURCE' })
  refuseNames(skills, directory)
  const elsewhere = await namesElsewhere(skills, others)
  const lines: string[] = []
  for (const skill of skills) lines.push(...await skillLines(skill, directory))
  return [
    ...lines,
    ...own.flatMap(tool => toolLines(tool, elsewhere.get(tool.name))),
    ...serverLines(registry),
    ...settings,
    ...errors.map(error => `not served: ${saidOf(error, directory)}`),
    ...registry.findings.filter(isLess).map(finding => `less: ${saidOf(finding, directory)}`)
  ].map(line => line.replaceAll(`${directory}/`, '').replace(/[\r\n\u2028\u2029]+/g, ' '))
}

/** Where it is, what is wrong, and what to write. */
function saidOf ({ file, message, fix }: Finding, directory: string): string {
  return `${relative(directory, file)}: ${message}${fix === undefined ? '' : `. ${fix}`}`
}

/** What a manifest says and nobody does. Fields of skills are for many programs, and no server is accepted yet. */
function isLess ({ severity, file, rule }: Finding): boolean {
  return severity === 'warning' && basename(file) === 'tools.json' && rule !== 'mcp/accepted'
}

/** Whoever decides sees names alone: what they are must show. */
function refuseNames (skills: readonly Skill[], directory: string): void {
  const spelled = new Map<string, string>()
  for (const { name, file } of skills) {
    if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}/\\]|^\.*$|^__proto__$/u.test(name)) throw new CommandError(`The skill ${JSON.stringify(name)} can't be added: no skill may have that name. Nothing was added. In a copy of the files, write another name into ${relative(directory, file)}, and add the copy.`, { code: 'SOURCE' })
    const other = spelled.get(folded(name))
    if (other !== undefined) throw new CommandError(`The skill ${JSON.stringify(name)} ${differs(other)}. Nothing was added.`, { code: 'SOURCE' })
    spelled.set(folded(name), name)
  }
}

/**
 * Where else there are tools, by their names: the built-in ones, and those of other entries.
 *
 * @throws CommandError for two skills of one name.
 */
async function namesElsewhere (skills: readonly Skill[], others: ReadonlyMap<string, string>): Promise<Map<string, string>> {
  const builtin = await loadRegistry({ manifests: [] })
  const elsewhere = new Map(builtin.all().map(({ tool }) => [tool.name, 'takes the place of the built-in tool']))
  for (const [entry, directory] of others) {
    const served = await loadRegistry({ manifests: [directory], builtins: false, skills: { path: process.env['PATH'] ?? '' } })
    const names = new Map(served.skills().map(({ name }) => [folded(name), name]))
    const same = skills.map(({ name }) => names.get(folded(name))).find(name => name !== undefined)
    if (same !== undefined) throw new CommandError(`There is a skill ${JSON.stringify(same)} in ${entry} already, and one would take the place of the other. Nothing was added: toolyard remove ${entry} takes that one away.`, { code: 'SOURCE' })
    for (const { tool } of served.all()) elsewhere.set(tool.name, `${entry} has a tool of this name: one takes the place of the other`)
  }
  return elsewhere
}

function isCallable ({ name }: Tool): boolean {
  return isPublishableName(name)
}

/** Entries about skills, which may be elsewhere, as the manifest is read: it has more than one spelling of a field. */
function settingLines (registry: Registry): string[] {
  return [...registry.skillSettings().values()].map(({ skill, source: _, ...fields }) => `entry about the skill ${skill}: ${JSON.stringify(fields)}`)
}

async function skillLines (skill: Skill, directory: string): Promise<string[]> {
  const { name, description, text, file, frontMatter, hasFiles } = skill
  const place = dirname(file)
  const files = (await readdir(place, { recursive: true, withFileTypes: true }).catch(() => []))
    .filter(entry => entry.isFile()).map(entry => relative(place, join(entry.parentPath, entry.name))).sort()
  const scripts = hasFiles ? files.filter(path => path.startsWith('scripts/')) : []
  const inner = files.filter(path => /\/skill\.md$/i.test(path) && !path.includes('node_modules/'))
  const needs = hasFiles ? await skillNeeds(skill) : undefined
  const allowed = frontMatter['allowed-tools']
  return [
    `skill ${name} (${relative(directory, file)}, ${text.length} characters for models)`,
    ...skillName.test(name) ? [] : ['    a name with other letters than a-z, 0-9 and "-"'],
    `    ${description === '' ? '(no description)' : description.replace(/\s+/g, ' ')}`,
    ...scripts.length === 0 ? [] : [`    may run: ${shortList(scripts)}`],
    ...needs === undefined || needs.programs.length === 0 ? [] : [`    programs: ${needs.programs.join(', ')}`],
    ...needs === undefined || needs.python.length === 0 ? [] : [`    modules of Python: ${needs.python.join(', ')}`],
    ...inner.length === 0 ? [] : [`    has others among its files, which are no skills by themselves: ${shortList(inner)}`],
    ...allowed === undefined ? [] : [`    says itself: allowed-tools ${typeof allowed === 'string' ? allowed : JSON.stringify(allowed)}`]
  ]
}

function shortList (names: readonly string[]): string {
  return `${names.slice(0, shownNames).join(', ')}${names.length > shownNames ? ` and ${names.length - shownNames} more` : ''}`
}

function toolLines (tool: Tool, elsewhere: string | undefined): string[] {
  const { name, description, permissions, unavailable, run } = tool
  return [
    `tool ${name}: ${description === '' ? '(no description)' : description.replace(/\s+/g, ' ')}`,
    ...isCallable(tool) ? [] : [`    ${unfitName}`],
    ...elsewhere === undefined ? [] : [`    ${elsewhere}`],
    ...unavailable === undefined ? [] : [`    can't run here: ${unavailable}`],
    `    runs ${runText(run)}; permissions: ${permissionText(permissions)}`,
    ...needsOfTool(tool),
    ...schemaTexts(tool.parameters).map(line => `    argument ${line}`),
    ...run.kind === 'python' ? schemaTexts({ properties: run.outputs }).map(line => `    output ${line}`) : []
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
  return registry.servers().flatMap(server => [
    `MCP server ${server.name}: ${connectionText(server.connection)}; its tools are published once toolyard accept has shown them`,
    ...needsOfServer(server)
  ])
}

function connectionText (connection: McpServer['connection']): string {
  if (connection.kind === 'stdio') return [connection.program, ...connection.args].join(' ')
  const { url } = connection
  return typeof url === 'string' ? url : `${url.prefix ?? ''}${'setting' in url ? url.setting : `the secret ${url.secret}`}`
}
