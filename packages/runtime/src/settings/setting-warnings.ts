import { lettersApart } from '@toolyard/contract/terms'
import { inspectEnvFile, isSettingName } from './env-file.ts'
import { resolve } from 'node:path'
import { statSync } from 'node:fs'
import { variables } from './settings.ts'

/** Settings of systems that people come from, and ours. */
const foreign: ReadonlyMap<string, string> = new Map(Object.entries({
  WORKSPACE_ROOT: 'WORKSPACE_DIR',
  WORKER_QUEUE_ALLOWLIST: 'WORKER_QUEUES',
  CALLBACK_SIGNING_ENABLED: 'CALLBACK_SECRET',
  CALLBACK_SIGNING_SECRET: 'CALLBACK_SECRET',
  GOAGENT_REDACT: 'REDACT',
  WEB_SEARCH_BRAVE_API_KEY: 'WEB_SEARCH_BRAVE_KEY',
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'OTEL_EXPORTER_OTLP_ENDPOINT',
  OTEL_SDK_DISABLED: 'OTEL_EXPORTER_OTLP_ENDPOINT'
}))

/** Settings that do nothing without another one, and what that one is. */
const needed: Readonly<Record<string, { setting: string, what: string }>> = {
  CALLBACK_SECRET: { setting: 'CALLBACK_ALLOWLIST', what: 'the hosts that may be called back' },
  APPROVAL_CALLBACK_URL: { setting: 'CALLBACK_SECRET', what: 'what callbacks are signed with, and CALLBACK_ALLOWLIST to its host' },
  SECRETS_VAULT_URL: { setting: 'SECRETS_VAULT_TOKEN_PATH', what: 'the file with the token for it' },
  SECRETS_VAULT_TOKEN_PATH: { setting: 'SECRETS_VAULT_URL', what: 'where it is good' },
  MCP_AUTH_TENANT_CLAIM: { setting: 'MCP_AUTH_ISSUER', what: 'the issuer whose tokens are taken' }
}

const prefix = 'TOOLYARD_'
/** Variables with our prefix that are no settings of the service: those of the clients, of installing, of parts among themselves. */
const ours = ['URL', 'API_KEY', 'NO_INSTALL', 'COUNT', 'SETTINGS_TOLD'].map(name => prefix + name)

/** Variables that other programs are often given, and that are near a setting. */
const ofOthers: ReadonlySet<string> = new Set(['SECRET_KEY'])

/** In the environment of a part whose parent has told the warnings. */
export const settingsTold = { TOOLYARD_SETTINGS_TOLD: '1' }

/** One letter may be wrong for so many of a name; two at most. */
const lettersPerFault = 5
const mostFaults = 2
const longestName = 64

/**
 * Variables that look like settings and are none, a line each: those nearly named like one, those with our prefix, and those
 * of other systems; settings without effect; and the lines of the environment file that set nothing. No value is in them.
 */
export function settingWarnings (env: NodeJS.ProcessEnv, envFile?: string): string[] {
  if (env['TOOLYARD_SETTINGS_TOLD'] === settingsTold.TOOLYARD_SETTINGS_TOLD) return []
  const { values, warnings: lines } = inspectEnvFile(envFile)
  const unknown = Object.entries({ ...values, ...env }).flatMap(([name, value = '']) => warningOf(name, value) ?? [])
  return [...lines, ...unknown, ...Object.keys(needed).flatMap(name => idle(env, name)), ...missingTemplates(env)]
}

/** A setting that does nothing without another one. */
function idle (env: NodeJS.ProcessEnv, name: string): string[] {
  const other = needed[name]
  if (other === undefined || !isSet(env, name) || isSet(env, other.setting)) return []
  return [`${name} has no effect without ${other.setting}: set it to ${other.what}`]
}

function missingTemplates ({ SESSION_TEMPLATES_DIR: dir = '' }: NodeJS.ProcessEnv): string[] {
  if (dir.trim() === '' || statSync(resolve(dir.trim()), { throwIfNoEntry: false })?.isDirectory() === true) return []
  return ['SESSION_TEMPLATES_DIR is no directory that can be read: no session can begin as a template. Make it, or set another one']
}

function isSet (env: NodeJS.ProcessEnv, name: string): boolean {
  return [name, `${name}_FILE`].some(each => (env[each] ?? '').trim() !== '')
}

function warningOf (name: string, value: string): string | undefined {
  if (value.trim() === '' || name.length > longestName || isSettingName(name) || ofOthers.has(name)) return undefined
  const own = foreign.get(name)
  if (own !== undefined) return `${name} is the setting of another system and has no effect here: the one of Toolyard is ${own}`
  if (!name.startsWith(prefix)) return suggestion(name, nearest(name))
  if (ours.includes(name) || name.startsWith(`${prefix}TEST_`) || isServiceLink(name, value)) return undefined
  const meant = name.slice(prefix.length)
  const near = isSettingName(meant) ? meant : foreign.get(meant) ?? nearest(meant) ?? ours.find(each => apart(name, each) < Infinity)
  return suggestion(name, near) ??
    `${name} has no effect: Toolyard has no setting of this name, and its settings have no prefix`
}

function suggestion (name: string, near: string | undefined): string | undefined {
  return near === undefined ? undefined : `${name} has no effect: Toolyard has no setting of this name. Is ${near} meant?`
}

/** Ends of names that people leave out: TOOL_TIMEOUT for TOOL_TIMEOUT_SEC. */
const units = ['_SEC', '_MS', '_BYTES', '_MB', '_COUNT']

function nearest (word: string): string | undefined {
  if (isSettingName(word.toUpperCase())) return word.toUpperCase()
  const withUnit = units.map(unit => word + unit).find(name => Object.hasOwn(variables, name))
  if (withUnit !== undefined) return withUnit
  const near = Object.keys(variables).flatMap(name => [name, `${name}_FILE`]).map(name => ({ name, away: apart(word, name) }))
  return near.filter(({ away }) => away < Infinity).sort((left, right) => left.away - right.away)[0]?.name
}

/** Infinity for what isn't near: a short name is near too many. */
function apart (word: string, name: string): number {
  return name.length < lettersPerFault ? Infinity : lettersApart(word, name, Math.min(mostFaults, Math.floor(name.replaceAll('_', '').length / lettersPerFault)))
}

/** Kubernetes and Docker tell containers of a service named toolyard in this way. */
function isServiceLink (name: string, value: string): boolean {
  return /_SERVICE_(HOST|PORT)(_\w+)?$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(name) || (/_PORT$/.test(name) && /^(tcp|udp|sctp):\/\//.test(value)) || /_ENV_\w+$/.test(name)
}
