import { dirname, isAbsolute, join, sep } from 'node:path'
import { isSecretVariable } from '@toolyard/contract/terms'
import { placeOf } from '../../document/place.ts'
import type { DocumentPath } from '../../finding/finding.ts'
import type { Remark } from '../../finding/finding-list.ts'
import type { McpConnection, SettingText } from '../../tool/tool.ts'
import type { McpEntry } from './definition.ts'

/** Names whose values are secrets, in any case and wherever the word stands. */
const secretName = /token|secret|passw|api[-_]?key|access[-_]?key|private[-_]?key|credential|^authorization$|^proxy-authorization$|^cookie$/i
/** How other programs write the value of a variable. */
const placeholder = /\$\{[^}]*\}/
const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/
const headerName = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/
/** What the protocol itself sets. */
const ownHeaders = new Set(['accept', 'connection', 'content-length', 'content-type', 'host', 'last-event-id', 'mcp-protocol-version', 'mcp-session-id', 'mcp-method', 'mcp-name', 'transfer-encoding', 'upgrade'])

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
    const problem = urlFault(url)
    if (problem !== undefined) fault('url', `mcp.url ${problem}`, 'Write an https:// URL without user name and password.')
    return findings.some(({ severity }) => severity === 'error') ? { findings } : { connection: { kind: 'http', url, headers }, findings }
  }
  const [program = '', ...first] = typeof command === 'string' ? [command] : command ?? []
  const words = [program, ...first, ...args].map(word => besideManifest(word, file))
  const [resolved] = words
  if (words.includes(undefined)) fault('command', 'mcp: a path that begins with ./tools/ leads out of tools', 'Put the server below tools beside the manifest.')
  if (resolved !== undefined && /\s/.test(program) && typeof command === 'string' && !isAbsolute(program)) fault('command', 'mcp.command holds white space: no shell reads it', 'Write the program alone, and its arguments into args.')
  else if (resolved !== undefined && !isAbsolute(resolved) && /[/\\]/.test(resolved)) fault('command', 'mcp.command must be a name on the PATH, a path that begins with ./tools/, or an absolute path', 'Put the server below tools beside the manifest, or write its absolute path.')
  if (words.some(word => word?.includes('\0') === true)) fault('command', 'mcp: the command holds a NUL character', 'Remove it.')
  if (resolved === undefined || findings.some(({ severity }) => severity === 'error')) return { findings }
  return { connection: { kind: 'stdio', program: resolved, args: words.slice(1).map(word => word ?? ''), env }, findings }
}

/** What begins with `./tools/` is a file beside the manifest; undefined when it leads elsewhere. */
function besideManifest (word: string, file: string): string | undefined {
  if (!word.startsWith('./tools/')) return word
  const tools = join(dirname(file), 'tools') + sep
  const path = join(dirname(file), word)
  return path.startsWith(tools) ? path : undefined
}

function urlFault (text: string): string | undefined {
  if (!URL.canParse(text)) return 'is no URL'
  const { protocol, username, password, hash } = new URL(text)
  if (protocol !== 'https:' && protocol !== 'http:') return 'must begin with https:// or http://'
  if (username !== '' || password !== '') return 'holds a user name or password'
  return hash === '' ? undefined : 'holds a fragment'
}

/** No secret stands in a manifest, and none of the service's own goes to a server. */
function textFindings (texts: Readonly<Record<string, SettingText>>, path: DocumentPath, validName: RegExp): Remark[] {
  return Object.entries(texts).flatMap(([name, text]): Remark[] => {
    const at = [...path, name]
    const shown = placeOf(at.slice(2))
    const error = (message: string, fix: string): Remark[] => [{ severity: 'error', rule: 'mcp/secret', path: at, message: `${shown} ${message}`, fix }]
    const set = `Put the value into an environment variable of the workers, and write {"setting": "NAME"}${validName === headerName ? ', with "prefix": "Bearer " where it needs one' : ''}.`
    if (!validName.test(name)) return error('has a name that can\'t be sent', 'Correct the name.')
    if (validName === headerName && ownHeaders.has(name.toLowerCase())) return error('is a header that the protocol sets', 'Remove it.')
    if (typeof text !== 'string') return isSecretVariable(text.setting) ? error(`takes ${text.setting}, which is a secret of the service`, 'Give the server a secret of its own under another name.') : []
    if (text === '') return []
    if (placeholder.test(text)) return error('holds a placeholder, which nobody replaces', set)
    if (secretName.test(name)) return error('looks like a secret, and stands in the manifest', set)
    return /[\0\r\n]/.test(text) && validName === headerName ? error('holds a line break', 'Write one line.') : []
  })
}
