import { boundLayer, withoutGroups } from '@toolyard/sandbox'
import { existsSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { ReadyMessage, Settings } from '@toolyard/runtime'

export interface Greeting {
  /** Where the HTTP service listens, as it says itself. */
  address: string
  /** By the parts themselves. */
  report: Pick<ReadyMessage, 'tools' | 'sandbox'>
  settings: Settings
  directory: string
  newKey: boolean
  /** The manifest that was taken from the directory since no setting names one. */
  foundManifest?: string | undefined
  /** Where the embedded Redis keeps its data; undefined when another one is used. */
  redisDirectory: string | undefined
  /** The file that API_KEY_FILE names, if any. */
  keyFile: string | undefined
}

/** Printed by `start` once everything serves: the address, where things are, and a batch to paste. No secret is in it. */
export function greet (greeting: Greeting): string {
  const { address, report, settings, directory, newKey, foundManifest, redisDirectory } = greeting
  const key = findKey(greeting, `${directory}/.env`)
  const rows = [
    ['Console', `${reachable(address)}${settings.BASE_PATH}/`],
    ...settings.DASHBOARD === 'off' ? [] : [['Dashboard', `${reachable(address)}${settings.BASE_PATH}/dashboard`]],
    ...report.tools === undefined ? [] : [['Tools', toolsText(report.tools)]],
    ...manifestRow(settings.TOOL_MANIFESTS, foundManifest),
    ...report.sandbox === undefined ? [] : [['Sandbox', sandboxText(report.sandbox)]],
    ['API key', `${key.place}${newKey ? ', made just now' : ''}`],
    ['Workspace', settings.WORKSPACE_DIR],
    ['Redis', redisDirectory === undefined ? 'the one at REDIS_URL' : `embedded, data in ${relative(directory, redisDirectory)}/`],
    ['Logs', '.toolyard/logs/']
  ]
  return [
    `Toolyard is ready at ${address}`,
    ...rows.map(([name = '', text = '']) => `  ${name.padEnd(11)}${text}`),
    '',
    'Try it:',
    curl(reachable(address), key.header, settings.TOOL_MANIFESTS === undefined ? sampleCalls : ownCalls(report.tools?.callable)),
    '',
    'Ctrl-C stops everything.'
  ].join('\n')
}

/** Where nobody has named a manifest: what is served then is not what everybody expects. */
function manifestRow (named: readonly string[] | undefined, found: string | undefined): string[][] {
  if (found !== undefined) return [['Manifest', `${found} of this directory, since TOOL_MANIFESTS names none`]]
  return named === undefined ? [['Manifest', 'the samples, since TOOL_MANIFESTS names none and this directory has no tools.json']] : []
}

function toolsText ({ count, manifests, faulty }: NonNullable<Greeting['report']['tools']>): string {
  const what = (number: number): string => `${number} ${number === 1 ? 'manifest' : 'manifests'}`
  return `${count} from ${what(manifests)} and built in${faulty === 0 ? '' : `; ${what(faulty)} with errors, which stand above`}`
}

function sandboxText ({ level, missing }: NonNullable<Greeting['report']['sandbox']>): string {
  if (level === 'full') return missing.includes(boundLayer) ? `${withoutGroups}; toolyard doctor tells what gives them` : 'full'
  return `${level === 'none' ? 'none: tools run in the open' : 'partial'}${missing.length === 0 ? '' : `; missing: ${missing.join(', ')}`}; toolyard doctor tells more`
}

interface KeyPlace {
  place: string
  /** How a shell gets at the key; undefined when there is none. */
  header: string | undefined
}

function findKey ({ settings: { API_KEY: key, API_KEYS_JSON: keys }, keyFile }: Greeting, envFile: string): KeyPlace {
  if (key === undefined) return keys === undefined ? { place: 'none needed', header: undefined } : { place: 'see API_KEYS_JSON', header: 'YOUR_ADMIN_KEY' }
  if (keyFile !== undefined) return { place: keyFile, header: `$(cat '${keyFile}')` }
  const lines = existsSync(envFile) ? readFileSync(envFile, 'utf8').split(/\r?\n/).filter(line => line.startsWith('API_KEY=')) : []
  if (lines.length === 1 && lines[0] === `API_KEY=${key}`) return { place: 'API_KEY in .env', header: "$(grep '^API_KEY=' .env | cut -d= -f2-)" }
  if (lines.some(line => line.includes(key))) return { place: 'API_KEY in .env', header: 'YOUR_API_KEY' }
  return { place: `API_KEY of the environment${lines.length > 0 ? ', which counts before the one in .env' : ''}`, header: '$API_KEY' }
}

/** They need nothing but Node.js. */
const sampleCalls: readonly ExampleCall[] = [
  ['data_file_read', { path: 'README.md' }], ['get_time', { timezone: 'Europe/Helsinki' }], ['word_count', { path: 'README.md' }], ['file_hash', { path: 'README.md' }]
]

type ExampleCall = readonly [tool: string, args: Readonly<Record<string, string>>]

/** A tool of the manifests that takes no arguments, else one that is built in: what others need, nobody knows. */
function ownCalls (callable: string | undefined): readonly ExampleCall[] {
  return [callable === undefined ? ['tools_file_search', { query: 'a' }] : [callable, {}]]
}

function curl (address: string, key: string | undefined, calls: readonly ExampleCall[]): string {
  const body = { calls: calls.map(([name, args], index) => ({ call_id: `call_${index + 1}`, name, arguments: args })) }
  const header = key === undefined ? '' : ` -H "x-api-key: ${key}"`
  return `curl -sS ${address}/v1/agent-tools/invoke-batch${header} -H 'content-type: application/json' -d '${JSON.stringify(body)}'`
}

/** An address that means every interface is no place to send a request to. */
function reachable (address: string): string {
  return address.replace('//0.0.0.0', '//127.0.0.1').replace('//[::]', '//[::1]')
}
