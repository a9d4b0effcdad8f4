import { isAbsolute, relative } from 'node:path'

/** `apps/api` has one for each route. */
interface RouteText {
  tag: string
  summary: string
}

/** A command of `toolyard`, as far as its page tells of it. */
interface CommandText {
  name: string
  summary: string
  help: string
  arguments?: readonly string[]
  options?: ReadonlyArray<readonly [flags: string, meaning: string]>
  commands?: readonly CommandText[]
  hidden?: boolean
}

/** A setting, as far as its page tells of it. */
interface SettingText {
  fallback: unknown
  allowed: string
}

interface ReferenceSources {
  /** By method and path. */
  routes: Readonly<Record<string, RouteText>>
  /** The groups of routes, with what they are. */
  tags: Readonly<Record<string, string>>
  commands: readonly CommandText[]
  variables: Readonly<Record<string, SettingText>>
  /** By groups. */
  settingTexts: Readonly<Record<string, Readonly<Record<string, string>>>>
}

const made = 'Made from the code by `npm run conformance`; a test of the repository fails when this page is out of date.'

/** Loads what the pages are made of from the built packages below that URL. */
export async function loadReference (root: URL): Promise<ReferenceSources> {
  const load = async (path: string): Promise<unknown> => await import(new URL(path, root).href)
  const { descriptions } = await load('apps/api/dist/openapi/descriptions/descriptions.js') as { descriptions: ReferenceSources['routes'] }
  const { tags } = await load('apps/api/dist/openapi/descriptions/route-description.js') as { tags: ReferenceSources['tags'] }
  const { commands } = await load('apps/cli/dist/command-list.js') as { commands: CommandText[] }
  const { variables } = await load('packages/runtime/dist/settings/settings.js') as Pick<ReferenceSources, 'variables'>
  const { settingTexts } = await load('packages/runtime/dist/settings/setting-texts.js') as Pick<ReferenceSources, 'settingTexts'>
  return { routes: descriptions, tags, commands, variables, settingTexts }
}

/** The text of docs/reference/routes.md: every route by its group. */
export function renderRoutes ({ routes, tags }: ReferenceSources): string {
  const groups = Object.entries(tags).flatMap(([tag, about]) => {
    const rows = Object.entries(routes).filter(([, route]) => route.tag === tag).map(([name, { summary }]) => {
      const [method = '', path = ''] = name.split(' ')
      return `| \`${method} ${path}\` | ${cell(summary)} |`
    })
    return rows.length === 0 ? [] : [`## ${tag.slice(0, 1).toUpperCase()}${tag.slice(1)}`, '', about, '', '| route | what it does |', '|---|---|', ...rows, '']
  })
  return [
    '# Routes', '', made, '',
    '`GET /openapi.json` of a running service has their parameters, bodies and answers, and an operation for each tool:',
    '[openapi.md](../openapi.md). What their errors mean is in [errors.md](../errors.md).', '',
    ...groups
  ].join('\n')
}

/** The text of docs/reference/commands.md: every command with its options. */
export function renderCommands ({ commands }: ReferenceSources): string {
  return ['# Commands', '', made, '', 'What they have in common is in [command-line.md](../command-line.md).', '', ...sections(commands, '')].join('\n')
}

/** The text of docs/reference/settings.md: every setting with its default, by its group. */
export function renderSettings ({ variables, settingTexts }: ReferenceSources): string {
  const groups = Object.entries(settingTexts).flatMap(([group, texts]) => [
    `## ${group}`, '', '| variable | default | allowed | what |', '|---|---|---|---|',
    ...Object.entries(texts).map(([name, what]) => {
      const { fallback, allowed = '' } = variables[name] ?? {}
      return `| \`${name}\` | ${showDefault(fallback)} | ${cell(typeof fallback === 'boolean' ? 'on, off' : allowed).replaceAll('*', '\\*')} | ${cell(what).replaceAll('](', '](../')} |`
    }), ''
  ])
  return ['# Settings', '', made, '', ...aboutSettings, '', ...groups].join('\n')
}

const aboutSettings = [
  'Environment variables. `.env` in the working directory is read, where a value with `#` or a space at its ends stands in quotes.', '',
  '- A bad value, or an `.env` that can\'t be read, stops the process, with what is wrong and what is allowed.',
  '- Each one can come from a file instead, which `NAME_FILE` names: `REDIS_URL_FILE=/run/secrets/redis_url`. White space around the text of the file doesn\'t count. Both at once, and a file that can\'t be read or is empty, are errors.',
  '- A switch is on with `1`, `true`, `yes` or `on`, and off with `0`, `false`, `no` or `off`.',
  '- Semicolons and line breaks separate the items of a comma-separated list as well, but not the pairs of `name=value`.',
  '- A variable that is nearly the name of a setting, one that begins with `TOOLYARD_` and is none, a setting of another system, such as `WORKSPACE_ROOT`, and a line of `.env` that sets nothing, has a quote that is never closed or is written for a shell (`$(...)`, `$NAME`, `~/`) are warnings at start.'
]

/** A default as it is written in the environment, a path from the working directory. */
function showDefault (fallback: unknown): string {
  if (fallback === undefined) return 'unset'
  if (typeof fallback === 'boolean') return fallback ? 'on' : 'off'
  const text = Array.isArray(fallback) ? fallback.join(',') : typeof fallback === 'string' ? fallback : JSON.stringify(fallback)
  return text === '' ? 'empty' : `\`${isAbsolute(text) ? relative('.', text) : text}\``
}

function sections (commands: readonly CommandText[], above: string): string[] {
  return commands.filter(({ hidden }) => hidden !== true).flatMap(command => {
    const { name, summary, help, arguments: args = [], options = [], commands: below = [] } = command
    const path = `${above}${name}`
    return [
      `## \`toolyard ${path}\``, '', `${summary}.`, '',
      '```text', ...[`toolyard ${[path, ...args].join(' ')}`, help.trim()].filter(text => text !== '').join('\n\n').split('\n'), '```', '',
      ...options.length === 0 ? [] : ['| option | what it does |', '|---|---|', ...options.map(([flags, meaning]) => `| \`${flags.replaceAll('|', '\\|')}\` | ${cell(meaning)} |`), ''],
      ...sections(below, `${path} `)
    ]
  })
}

function cell (text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '\\<')
}
