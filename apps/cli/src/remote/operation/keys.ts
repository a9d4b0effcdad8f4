import { randomBytes } from 'node:crypto'
import { pathSegment } from '@toolyard/client'
import { isRecord, roles } from '@toolyard/contract/terms'
import { askBriefly, strangeAnswer } from '../ask-service.ts'
import { asking } from '../target.ts'
import { misuse } from '../../terminal/exit-status.ts'
import { jsonOption, textOption, type Command } from '../../terminal/command.ts'
import { complain, print, shellWord } from '../../terminal/terminal.ts'

const secOfUnit = { m: 60, h: 3_600, d: 86_400 } as const

interface KeyView {
  name: string
  role: string
  tenant: string | null
  source: string
  expires_at: string | null
  last_used_at: string | null
}

const roleMeaning = 'admin; approver, which looks and decides about held calls; or read, which only looks (default: admin)'

const add: Command = {
  name: 'add',
  summary: 'Make an API key in the running service and print it, once',
  help: `Makes an API key that all processes of the service take at once, without a restart, and prints it. The service keeps no key,
only what tells it again. It needs an admin key without a tenant.`,
  arguments: ['<name>'],
  options: [
    ['--role <role>', roleMeaning],
    ['--tenant <tenant>', 'who it belongs to; without one it sees everything'],
    ['--queues <names>', 'the only queues that it may use, with commas between'],
    ['--permissions <names>', 'the only permissions that its tools may hold: read_repo, write_files, network'],
    ['--namespaces <names>', 'the only namespaces whose tools it may use, with commas between'],
    ['--hosts <hosts>', 'the only hosts that its tools may reach, with commas between: api.example.com, *.example.com:443'],
    ['--expires-in <time>', 'such as 30d, 12h or 90m; never without it'],
    jsonOption
  ],
  run: asking(async (target, { args: [name = ''], options }) => {
    const [tenant, queues, permissions, namespaces, hosts, expiresIn] = ['tenant', 'queues', 'permissions', 'namespaces', 'hosts', 'expiresIn'].map(each => textOption(options, each))
    const role = textOption(options, 'role') ?? 'admin'
    const body = {
      name,
      role,
      ...tenant !== undefined && { tenant },
      ...queues !== undefined && { queue_allowlist: queues.split(',') },
      ...permissions !== undefined && { permissions: permissions.split(',').filter(each => each !== '') },
      ...namespaces !== undefined && { namespaces: namespaces.split(',') },
      ...hosts !== undefined && { hosts: hosts.split(',').filter(each => each !== '') },
      ...expiresIn !== undefined && { expires_in_sec: seconds(expiresIn) }
    }
    const answer = await askBriefly(target, 'POST', '/v1/keys', body)
    const { key } = answer
    if (!isRecord(key) || typeof key['key'] !== 'string') throw strangeAnswer(target, Object.keys(answer))
    print(options['json'] === true ? JSON.stringify(answer) : key['key'])
    complain(`This key is shown once. Its caller takes it as TOOLYARD_API_KEY. toolyard keys revoke ${shellWord(name)} makes it worth nothing.`)
  })
}

const list: Command = {
  name: 'list',
  summary: 'List the API keys of the service',
  help: 'Lists the keys of the settings and those in Redis: whose they are, until when, and when they were used last. Never the keys.',
  options: [jsonOption],
  run: asking(async (target, { options }) => {
    const answer = await askBriefly(target, 'GET', '/v1/keys')
    const { keys } = answer
    if (!Array.isArray(keys) || !keys.every(isKey)) throw strangeAnswer(target, answer)
    print(options['json'] === true ? JSON.stringify(answer, null, 2) : keys.map(row).join('\n'))
  })
}

const revoke: Command = {
  name: 'revoke',
  summary: 'Make an API key in Redis worth nothing',
  help: 'Revokes a key that keys add has made. Keys of the settings are taken out there.',
  arguments: ['<name>'],
  options: [jsonOption],
  run: asking(async (target, { args: [name = ''], options }) => {
    const answer = await askBriefly(target, 'DELETE', `/v1/keys/${pathSegment(name)}`)
    print(options['json'] === true ? JSON.stringify(answer) : `Revoked ${name}`)
  })
}

const keyBytes = 32

const makeNew: Command = {
  name: 'new',
  summary: 'Make an API key for the settings and print it, once',
  help: `Makes an API key of 32 random bytes and prints it as an entry of API_KEYS_JSON. It is stored nowhere: put it into the
settings of the service and into those of its caller.`,
  options: [['--name <name>', 'what logs and jobs call it (default: key-1)'], ['--role <role>', roleMeaning], jsonOption],
  run: async ({ options: { name = 'key-1', role = 'admin', json } }) => {
    if (!(roles as readonly unknown[]).includes(role)) throw misuse(`--role must be one of ${roles.join(', ')}, not '${String(role)}'`)
    if (String(name).trim() === '') throw misuse('--name must not be empty')
    const entry = { name, key: randomBytes(keyBytes).toString('base64url'), role }
    print(json === true ? JSON.stringify({ ok: true, key: entry }) : JSON.stringify(entry))
    complain("This key is shown once. The service takes it as API_KEYS_JSON='[ENTRY, ...]', which replaces API_KEY; its caller, as TOOLYARD_API_KEY.")
  }
}

export const keys: Command = {
  name: 'keys',
  summary: 'Make, list and revoke API keys',
  help: `The keys of the service at TOOLYARD_URL, else of the one of the settings: add, list and revoke. A service takes the keys of its
settings as well (API_KEY, or API_KEYS_JSON); new prints one for them, and asks nobody.`,
  commands: [add, list, revoke, makeNew]
}

function isKey (value: unknown): value is KeyView {
  return isRecord(value) && ['name', 'role', 'source'].every(field => typeof value[field] === 'string') &&
    ['tenant', 'expires_at', 'last_used_at'].every(field => value[field] === null || typeof value[field] === 'string')
}

function seconds (time: string): number {
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(time) ?? []
  if (unit !== 'm' && unit !== 'h' && unit !== 'd') throw misuse(`--expires-in must be such as 30d, 12h or 90m, not '${time}'`)
  return Number(count) * secOfUnit[unit]
}

function row ({ name, role, tenant, source, expires_at: expires, last_used_at: used }: KeyView): string {
  const until = expires === null ? '' : `  until ${expires}`
  return `${name}  ${role}  ${tenant ?? '(no tenant)'}  ${source}${until}${used === null ? '' : `  used ${used}`}`
}
