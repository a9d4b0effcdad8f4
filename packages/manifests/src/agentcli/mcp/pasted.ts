import { isRecord } from '@toolyard/contract/terms'

/** Other names of fields of `mcp`. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  command: ['cmd'],
  url: ['httpUrl', 'serverUrl', 'uri', 'endpoint'],
  env: ['environment', 'envs'],
  headers: ['http_headers', 'httpHeaders']
}
const headerHolders = ['requestInit', 'requestOptions'] as const
const typeNames = ['transport', 'transportType', 'transport_type']
/** How others call the two ways to reach a server. */
const types: ReadonlyMap<unknown, string> = new Map([
  ['streamablehttp', 'http'], ['remote', 'http'], ['http', 'http'], ['local', 'stdio'], ['stdio', 'stdio'], ['custom', '']
])
const including = ['includeTools', 'enabledTools', 'enabled_tools', 'allowedTools', 'allowed_tools', 'available_tools', 'tools']
const excluding = ['excludeTools', 'disabledTools', 'disabled_tools', 'excludedTools']
const off: ReadonlyArray<readonly [name: string, value: boolean]> = [['disabled', true], ['enabled', false], ['isActive', false], ['active', false]]

/**
 * An entry as it is written here, of one whose `mcp` was pasted from the settings of another program. What those say and
 * nothing here means stays where it is, to be named.
 */
export function fromOtherPrograms (entry: Record<string, unknown>): Record<string, unknown> {
  if (!isRecord(entry['mcp'])) return entry
  const mcp = { ...entry['mcp'] }
  for (const [name, others] of Object.entries(otherNames)) rename(mcp, others, name)
  for (const holder of headerHolders) {
    const held = mcp[holder]
    if (!isRecord(held) || !isRecord(held['headers']) || mcp['headers'] !== undefined) continue
    mcp['headers'] = held['headers']
    if (Object.keys(held).length === 1) Reflect.deleteProperty(mcp, holder)
  }
  headersOfVariables(mcp)
  programOf(mcp)
  typeOf(mcp)
  return { ...entry, ...switchedOff(mcp), ...toolsOf(entry, mcp), ...timeOf(entry, mcp), mcp }
}

function rename (mcp: Record<string, unknown>, others: readonly string[], name: string): void {
  for (const other of others) if (mcp[other] !== undefined && mcp[name] === undefined) mcp[name] = take(mcp, other)
}

function take (mcp: Record<string, unknown>, name: string): unknown {
  const value = mcp[name]
  Reflect.deleteProperty(mcp, name)
  return value
}

/** Codex names variables for headers. */
function headersOfVariables (mcp: Record<string, unknown>): void {
  const headers: Record<string, unknown> = isRecord(mcp['headers']) ? { ...mcp['headers'] } : {}
  const given = Object.keys(headers).length
  if (typeof mcp['bearer_token_env_var'] === 'string') headers['Authorization'] = { setting: take(mcp, 'bearer_token_env_var'), prefix: 'Bearer ' }
  const named = mcp['env_http_headers']
  if (isRecord(named)) {
    for (const [name, setting] of Object.entries(named)) headers[name] = { setting }
    Reflect.deleteProperty(mcp, 'env_http_headers')
  }
  if (Object.keys(headers).length > given) mcp['headers'] = headers
}

/** Zed and Continue have written the program into an object. */
function programOf (mcp: Record<string, unknown>): void {
  for (const name of ['command', 'transport']) {
    const inner = mcp[name]
    if (!isRecord(inner)) continue
    Reflect.deleteProperty(mcp, name)
    rename(inner, ['path'], 'command')
    for (const [field, value] of Object.entries(inner)) if (mcp[field] === undefined && value !== null) mcp[field] = value
  }
}

function typeOf (mcp: Record<string, unknown>): void {
  for (const name of typeNames) if (typeof mcp[name] === 'string' && mcp['type'] === undefined) mcp['type'] = take(mcp, name)
  if (mcp['source'] === 'custom') Reflect.deleteProperty(mcp, 'source')
  const known = typeof mcp['type'] === 'string' ? types.get(mcp['type'].toLowerCase().replace(/[-_]/g, '')) : undefined
  if (known === '') Reflect.deleteProperty(mcp, 'type')
  else if (known !== undefined) mcp['type'] = known
}

function switchedOff (mcp: Record<string, unknown>): { disabled?: true } {
  const isOff = off.some(([name, value]) => mcp[name] === value)
  for (const [name] of off) if (typeof mcp[name] === 'boolean') Reflect.deleteProperty(mcp, name)
  return isOff ? { disabled: true } : {}
}

/** What is left out here is also left out of a list that the entry has itself. */
function toolsOf (entry: Record<string, unknown>, mcp: Record<string, unknown>): { tools?: unknown[] } {
  const wanted = including.filter(name => !isNone(mcp[name])).flatMap(name => namesIn(mcp, name))
  const unwanted = excluding.flatMap(name => namesIn(mcp, name))
  const own = Array.isArray(entry['tools']) ? entry['tools'] as unknown[] : wanted.map(plainName)
  const out = unwanted.map(name => `!${plainName(name)}`)
  return out.length === 0 && wanted.length === 0 ? {} : { tools: [...own, ...out] }
}

/** Gemini's lists may have arguments behind a name. */
function plainName (name: string): string {
  return name.replace(/\(.*$/, '')
}

function namesIn (mcp: Record<string, unknown>, name: string): string[] {
  const value = mcp[name]
  if (!isNames(value)) return []
  Reflect.deleteProperty(mcp, name)
  return value
}

/** A list of no tool at all stays where it is, to be named: without a list all tools are served. */
function isNone (value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

function isNames (value: unknown): value is string[] {
  return Array.isArray(value) && value.every(name => typeof name === 'string' && name !== '')
}

function timeOf (entry: Record<string, unknown>, mcp: Record<string, unknown>): { timeoutSec?: number } {
  const seconds = mcp['tool_timeout_sec']
  if (typeof seconds !== 'number' || seconds < 0 || entry['timeoutSec'] !== undefined) return {}
  Reflect.deleteProperty(mcp, 'tool_timeout_sec')
  return { timeoutSec: Math.ceil(seconds) }
}
