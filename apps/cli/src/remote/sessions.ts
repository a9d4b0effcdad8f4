import type { NewSession, SessionView } from '@toolyard/client'
import { cursorOption, jsonOption, nextPage, textOption, type Command, type CommandLine } from '../terminal/command.ts'
import { misuse } from '../terminal/exit-status.ts'
import { complain, print } from '../terminal/terminal.ts'
import { asking, clientOf } from './target.ts'

const make: Command = {
  name: 'make',
  summary: 'Make a session and print its id',
  help: 'Makes a workspace of its own and prints its id, for --session of call, batch, files and jobs submit.',
  options: [
    ['--ttl <seconds>', 'without a call for so long, it is removed (default: SESSION_TTL_SEC of the service)'],
    ['--quota <bytes>', 'what its files may take (default: SESSION_QUOTA_BYTES of the service)'],
    ['--from <template>', 'what its files begin as: a directory below SESSION_TEMPLATES_DIR of the service'],
    jsonOption
  ],
  run: asking(async (target, { options }) => {
    const [ttl, quota, from] = [numberOption(options, 'ttl', 'seconds'), numberOption(options, 'quota', 'bytes'), textOption(options, 'from')]
    const wanted: NewSession = { ttl_sec: ttl ?? null, quota_bytes: quota ?? null, from: from ?? null }
    const session = await clientOf(target).sessions.make(wanted)
    print(options['json'] === true ? JSON.stringify({ ok: true, session }, null, 2) : session.id)
    complain(`Its files go ${session.ttl_sec} s after its last call, or with toolyard sessions rm ${session.id}`)
  })
}

const list: Command = {
  name: 'list',
  summary: 'List sessions, the newest first',
  help: 'Lists the sessions that the key may see, the newest first.',
  options: [
    ['--tenant <name>', 'of this tenant, for keys without one'], ['--limit <n>', '1 to 200 (default: 50)'],
    cursorOption, jsonOption
  ],
  run: asking(async (target, { options }) => {
    const page = await clientOf(target).sessions.list({
      tenant: textOption(options, 'tenant'), limit: numberOption(options, 'limit'), cursor: textOption(options, 'cursor')
    })
    if (options['json'] === true) print(JSON.stringify(page, null, 2))
    else print([...page.sessions.map(row), ...nextPage('toolyard sessions list', options, page.next_cursor), ...page.sessions.length === 0 ? ['No sessions'] : []].join('\n'))
  })
}

const show: Command = {
  name: 'show',
  summary: 'Show a session',
  help: 'Prints a session as JSON: whose it is, what its files took when they were last counted, and when it ends.',
  arguments: ['<id>'],
  options: [jsonOption],
  run: asking(async (target, { args: [id = ''] }) => {
    print(JSON.stringify(await clientOf(target).sessions.get(id), null, 2))
  })
}

const rm: Command = {
  name: 'rm',
  summary: 'Remove a session and its files',
  help: 'Begins to remove a session. Calls that run in it end with SESSION_GONE.',
  arguments: ['<id>'],
  options: [jsonOption],
  run: asking(async (target, { args: [id = ''], options }) => {
    const session = await clientOf(target).sessions.remove(id)
    print(options['json'] === true ? JSON.stringify({ ok: true, session }, null, 2) : row(session))
  })
}

/** `toolyard sessions`: workspaces of their own. */
export const sessions: Command = {
  name: 'sessions',
  summary: 'Make, list, show and remove sessions',
  help: 'The sessions of the service at TOOLYARD_URL, else of the one of the settings.',
  commands: [make, list, show, rm]
}

/** An option that takes a whole number; the service says which ones are allowed. */
export function numberOption (options: CommandLine['options'], name: string, unit?: string): number | undefined {
  const text = textOption(options, name)
  if (text === undefined) return undefined
  if (!/^\d{1,15}$/.test(text)) throw misuse(`--${name} takes a whole number${unit === undefined ? '' : ` of ${unit}`}, not '${text}'`)
  return Number(text)
}

function row ({ id, tenant, state, from, used_bytes: used, quota_bytes: quota, expires_at: expires }: SessionView): string {
  return `${id}  ${state}  ${tenant ?? '(no tenant)'}  ${used ?? 0} of ${quota} bytes  until ${expires}${from === null ? '' : `  from ${from}`}`
}
