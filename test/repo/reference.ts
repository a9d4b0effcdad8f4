/** What a route is said to do; `apps/api` has one for each. */
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

/** What the two pages are made of. */
export interface ReferenceSources {
  /** By method and path. */
  routes: Readonly<Record<string, RouteText>>
  /** The groups of routes, with what they are. */
  tags: Readonly<Record<string, string>>
  commands: readonly CommandText[]
}

const made = 'Made from the code by `npm run conformance`; a test of the repository fails when this page is out of date.'

/** Loads what the pages are made of from the built packages below that URL. */
export async function loadReference (root: URL): Promise<ReferenceSources> {
  const load = async (path: string): Promise<unknown> => await import(new URL(path, root).href)
  const { descriptions } = await load('apps/api/dist/openapi/descriptions/descriptions.js') as { descriptions: ReferenceSources['routes'] }
  const { tags } = await load('apps/api/dist/openapi/descriptions/route-description.js') as { tags: ReferenceSources['tags'] }
  const { commands } = await load('apps/cli/dist/command-list.js') as { commands: CommandText[] }
  return { routes: descriptions, tags, commands }
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
