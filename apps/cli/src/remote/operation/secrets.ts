import type { SecretPlace, SecretView } from '@toolyard/client'
import { askBriefly } from '../ask-service.ts'
import { asking, withClient } from '../target.ts'
import { jsonOption, textOption, type Command } from '../../terminal/command.ts'
import { exitStatus, misuse } from '../../terminal/exit-status.ts'
import { print } from '../../terminal/terminal.ts'

const scopes = ['operator', 'tenant', 'key'] as const
const whose: Command['options'] = [
  ['--scope <scope>', 'whose it is: operator, tenant, or key, which is the key that asks (default: that of the key)'],
  ['--tenant <tenant>', 'the tenant whose it is, where the operator asks'],
  jsonOption
]

const set: Command = {
  name: 'set',
  summary: 'Store a secret, whose value comes from stdin',
  help: `Stores a secret that manifests name by {"secret": NAME}. Its value is read from stdin, without the line break at its end, and
is never shown again.`,
  arguments: ['<name>'],
  options: whose,
  run: withClient(async ({ secrets }, { args: [name = ''], options }) => {
    if (process.stdin.isTTY) throw misuse('the value comes from stdin: toolyard secrets set NAME < FILE')
    let text = ''
    for await (const chunk of process.stdin.setEncoding('utf8')) text += String(chunk)
    const value = text.replace(/\r?\n$/, '')
    if (value === '') throw misuse('stdin has no value')
    await secrets.set(name, value, place(options))
    print(options['json'] === true ? JSON.stringify({ ok: true, name }) : `Stored ${name}`)
  })
}

const list: Command = {
  name: 'list',
  summary: 'List the secrets that your key may see',
  help: 'Lists names, whose each secret is, and when it was used last. Never the values.',
  options: [jsonOption],
  run: withClient(async ({ secrets }, { options }) => {
    const answer = await secrets.list()
    print(options['json'] === true ? JSON.stringify(answer, null, 2) : answer.secrets.map(row).join('\n'))
  })
}

const remove: Command = {
  name: 'remove',
  summary: 'Remove a secret; no call uses it from then on',
  help: 'Removes a secret. Calls that have it already go on.',
  arguments: ['<name>'],
  options: whose,
  run: withClient(async ({ secrets }, { args: [name = ''], options }) => {
    await secrets.remove(name, place(options))
    print(options['json'] === true ? JSON.stringify({ ok: true, name }) : `Removed ${name}`)
  })
}

const rotate: Command = {
  name: 'rotate',
  summary: 'Seal all secrets with the new SECRETS_KEY',
  help: `Seals with SECRETS_KEY what SECRETS_KEY_PREVIOUS has sealed. Start the service with the new key and the old one beside it, run
this, and take the old one out.`,
  options: [jsonOption],
  run: asking(async (target, { options }) => {
    const answer = await askBriefly(target, 'POST', '/v1/secrets/rotate')
    const { sealed, lost } = answer
    print(options['json'] === true ? JSON.stringify(answer) : `${Number(sealed)} sealed anew, ${Number(lost)} that no key opens`)
    return Number(lost) === 0 ? exitStatus.done : 1
  })
}

/** `toolyard secrets`: what tools use without having it in their manifests. */
export const secrets: Command = {
  name: 'secrets',
  summary: 'Store, list and remove secrets that tools use',
  help: 'The secrets of the service at TOOLYARD_URL, else of the one of the settings. They are sealed with SECRETS_KEY.',
  commands: [set, list, remove, rotate]
}

function place (options: Record<string, unknown>): SecretPlace {
  const [given, tenant] = ['scope', 'tenant'].map(name => textOption(options, name))
  const scope = scopes.find(each => each === given)
  if (scope !== given) throw misuse(`--scope must be one of ${scopes.join(', ')}, not '${given}'`)
  return { ...scope !== undefined && { scope }, ...tenant !== undefined && { tenant } }
}

function row ({ name, scope, tenant, key, last_used_at: used }: SecretView): string {
  return [name, [scope, tenant ?? key].filter(each => each !== null).join(' '), ...used === null ? [] : [`used ${used}`]].join('  ')
}
