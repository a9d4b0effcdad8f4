import { dirname, isAbsolute, join, sep } from 'node:path'
import { isSecretVariable } from '@toolyard/contract/terms'
import { placeOf } from '../../document/place.ts'
import type { DocumentPath } from '../../finding/finding.ts'
import type { Remark } from '../../finding/finding-list.ts'
import { variableName } from '../../tool/resource-uri.ts'
import type { McpConnection, SettingText } from '../../tool/tool.ts'
import { headerName } from '../request/request.ts'
import type { McpEntry } from './definition.ts'
import { hasSecret, isSecret, isSecretArgument } from './secrets.ts'

/** How other programs write the value of a variable. What stands in its braces has none: a text of many `${` is looked through once. */
const placeholder = /\$\{[^${}]*\}|\{\{[^{}]*\}\}|^\$[A-Z_][A-Z0-9_]*$|\{env:[^{}]*\}/
/** How documents of servers write what their readers have. */
const wholePlaceholder = /^<[A-Za-z][\w -]*>$/
/** No URL has braces. */
const urlPlaceholder = /\{[^{}]*\}|<[^<>]*>/
/** In arguments, which may hold scripts, those that other programs know. */
const variablePlaceholder = /\$\{(?:(?:env|input|config|command|userHome|workspaceFolder|workspaceRoot|__dirname|user_config)[:.}]|[A-Z][A-Z0-9_]*(?::-[^{}]*)?\})/
/** The host ends before what is added. */
const wholeHost = /^https?:\/\/[^/?#\\]+\//
/** Headers that the protocol itself sets. */
const ownHeaders = new Set(['accept', 'connection', 'content-length', 'content-type', 'host', 'last-event-id', 'mcp-protocol-version', 'mcp-session-id', 'mcp-method', 'mcp-name', 'transfer-encoding', 'upgrade'])

/** What to do with a secret among the arguments. */
const inEnv = 'A secret belongs into an environment variable of the workers: write {"setting": "NAME"} into env, if the server reads it there.'

interface Place {
  /** Absolute path of the manifest. */
  file: string
  /** Where `mcp` stands. */
  path: DocumentPath
}

/** Reads how a server is reached; without a connection when there is an error among the findings. */
export function readConnection (mcp: McpEntry['mcp'], { file, path }: Place): { connection?: McpConnection, findings: Remark[] } {
  const findings: Remark[] = []
  const fault = (field: string, message: string, fix: string): void => { findings.push({ severity: 'error', rule: 'mcp/server', path: field === '' ? path : [...path, field], message, fix }) }
  const { command, args = [], env = {}, url, headers = {}, type } = mcp
  if ((command === undefined) === (url === undefined)) fault('', 'mcp must have either command or url', 'Write the command that starts the server, or the URL where it is.')
  if (type !== undefined && (type === 'stdio') !== (command !== undefined)) fault('type', `mcp.type ${type} doesn't fit ${command === undefined ? 'url' : 'command'}`, 'Leave type out.')
  findings.push(...textFindings(env, [...path, 'env'], variableName), ...textFindings(headers, [...path, 'headers'], headerName))
  if (command !== undefined && Object.keys(headers).length > 0) fault('headers', 'mcp.headers are for servers with a url', 'Remove headers, or use env.')
  if (url !== undefined && (args.length > 0 || Object.keys(env).length > 0)) fault('', 'mcp.args and mcp.env are for servers with a command', 'Remove them, or use headers.')

  if (url !== undefined) {
    findings.push(...urlFindings(url, [...path, 'url']))
    return findings.some(({ severity }) => severity === 'error') ? { findings } : { connection: { kind: 'http', url, headers }, findings }
  }
  const [program = '', ...first] = typeof command === 'string' ? [command] : command ?? []
  findings.push(...argumentFindings([...first, ...args], path))
  const words = [program, ...first, ...args].map(word => besideManifest(word, file))
  const [resolved] = words
  if (words.includes(undefined)) fault('command', 'mcp: a path that begins with ./tools/ leads out of tools', 'Put the server below tools beside the manifest.')
  if (resolved !== undefined && /\s/.test(program) && typeof command === 'string' && !isAbsolute(program)) fault('command', 'mcp.command holds white space: no shell reads it', 'Write the program alone, and its arguments into args.')
  else if (resolved !== undefined && !isAbsolute(resolved) && /[/\\]/.test(resolved)) fault('command', 'mcp.command must be a name on the PATH, a path that begins with ./tools/, or an absolute path', 'Put the server below tools beside the manifest, or write its absolute path.')
  if (words.some(word => word?.includes('\0') === true)) fault('command', 'mcp: the command holds a NUL character', 'Remove it.')
  if (resolved === undefined || findings.some(({ severity }) => severity === 'error')) return { findings }
  return { connection: { kind: 'stdio', program: resolved, args: words.slice(1).map(word => word ?? ''), env }, findings }
}

/** A word that begins with `./tools/` is a file beside the manifest; undefined when it leads elsewhere. */
function besideManifest (word: string, file: string): string | undefined {
  if (!word.startsWith('./tools/')) return word
  const tools = join(dirname(file), 'tools') + sep
  const path = join(dirname(file), word)
  return path.startsWith(tools) ? path : undefined
}

/** An address is checked as far as it stands here: the rest of it may be in a setting. */
function urlFindings (url: SettingText, path: DocumentPath): Remark[] {
  const fault = (rule: string, message: string, fix: string): Remark[] => [{ severity: 'error', rule, path, message: `mcp.url ${message}`, fix }]
  const secret = (what: string): Remark[] => fault('mcp/secret', `${what}, and stands in the manifest`, 'Take it out, put it into an environment variable of the workers, and write "url": {"setting": "NAME", "prefix": "https://host/mcp?key="} with what stands in front of it; or a whole address as {"setting": "NAME"}.')
  if (typeof url !== 'string' && 'setting' in url && isSecretVariable(url.setting)) return fault('mcp/secret', `takes ${url.setting}, which is a secret of the service`, 'Give the server a secret of its own under another name.')
  const text = typeof url === 'string' ? url : url.prefix ?? ''
  // Tenants store secrets: they must not choose where the headers go.
  if (typeof url !== 'string' && 'secret' in url && !wholeHost.test(text)) return fault('mcp/server', 'takes its host from a stored secret, which tenants may have their own of', 'Write "prefix" with the scheme, the host and a slash, such as "https://host/mcp?key=".')
  if (typeof url !== 'string' && text === '') return []
  if (placeholder.test(text) || urlPlaceholder.test(text)) return secret('holds a placeholder, which nobody replaces')
  if (!URL.canParse(text)) return fault('mcp/server', 'is no URL', 'Write an https:// URL.')
  const { protocol, username, password, hash, searchParams } = new URL(text)
  if (protocol !== 'https:' && protocol !== 'http:') return fault('mcp/server', 'must begin with https:// or http://', 'Write an https:// URL.')
  if (username !== '' || password !== '') return fault('mcp/server', 'holds a user name or password', 'Take it out, and write {"setting": "NAME", "prefix": "Basic "} as the header Authorization, for user:password in base64.')
  if (hash !== '') return fault('mcp/server', 'holds a fragment', 'Take it out.')
  const given = [...searchParams].find(([name, value]) => isSecret(name, value))
  if (given !== undefined) return secret(`has ${given[0]}, which looks like a secret`)
  return hasSecret(text) ? secret('holds what looks like a secret') : []
}

/** Other users of the machine can read arguments, and nobody replaces what stands for another value. */
function argumentFindings (args: readonly string[], path: DocumentPath): Remark[] {
  return args.flatMap((word, at): Remark[] => {
    const place = [...path, 'args', at]
    const error = (message: string, fix: string): Remark[] => [{ severity: 'error', rule: 'mcp/secret', path: place, message: `mcp.args[${at}] ${message}`, fix }]
    if (variablePlaceholder.test(word) || wholePlaceholder.test(word)) return error('holds a placeholder, which nobody replaces', `Write what it stands for, such as ./tools/server.js for a file beside the manifest, or . for the workspace. ${inEnv}`)
    return isSecretArgument(word, args[at - 1]) ? error('looks like a secret, and stands in the manifest', inEnv) : []
  })
}

/** No secret stands in a manifest, and none of the service's own goes to a server. */
function textFindings (texts: Readonly<Record<string, SettingText>>, path: DocumentPath, validName: RegExp): Remark[] {
  return Object.entries(texts).flatMap(([name, text]): Remark[] => {
    const at = [...path, name]
    const shown = placeOf(at.slice(2))
    const error = (message: string, fix: string): Remark[] => [{ severity: 'error', rule: 'mcp/secret', path: at, message: `${shown} ${message}`, fix }]
    const set = `Put the value into an environment variable of the workers, and write {"setting": "NAME"}, or store it (toolyard secrets set NAME) and write {"secret": "NAME"}${validName === headerName ? ', with "prefix": "Bearer " where it needs one' : ''}.`
    if (!validName.test(name)) return error('has a name that can\'t be sent', 'Correct the name.')
    if (validName === headerName && ownHeaders.has(name.toLowerCase())) return error('is a header that the protocol sets', 'Remove it.')
    if (typeof text !== 'string') return 'setting' in text && isSecretVariable(text.setting) ? error(`takes ${text.setting}, which is a secret of the service`, 'Give the server a secret of its own under another name.') : []
    if (text === '') return []
    if (placeholder.test(text) || wholePlaceholder.test(text)) return error('holds a placeholder, which nobody replaces', settingFor(text) ?? (validName === variableName ? settingOf(name, '') : set))
    if (isSecret(name, text)) return error('looks like a secret, and stands in the manifest', set)
    return /[\0\r\n]/.test(text) && validName === headerName ? error('holds a line break', 'Write one line.') : []
  })
}

/** A variable at the end of a text, as programs write it: VS Code and Cursor, Gemini, opencode, Continue. */
const ends = [/\$\{(?:env:|input:)?([A-Za-z_][\w-]*)(?::-[^{}]*)?\}$/, /\$([A-Z_][A-Z0-9_]*)$/, /\{env:([A-Za-z_]\w*)\}$/, /\$\{\{ *secrets\.([A-Za-z_]\w*) *\}\}$/]

/** In place of a placeholder of a variable, where one ends the text. */
function settingFor (text: string): string | undefined {
  const at = ends.map(end => end.exec(text)).find(found => found !== null)
  const prefix = text.slice(0, at?.index)
  return at?.[1] === undefined || /[${}]/.test(prefix) ? undefined : settingOf(at[1], prefix)
}

function settingOf (name: string, prefix: string): string {
  const setting = name.toUpperCase().replaceAll('-', '_')
  return `Write ${JSON.stringify(prefix === '' ? { setting } : { setting, prefix })}, and put the value into the environment variable ${setting} of the workers.`
}
