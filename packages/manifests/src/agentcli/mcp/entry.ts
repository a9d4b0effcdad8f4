import { rulesOf } from '../../schema/policy/definition.ts'
import { policyRemarks } from '../../schema/policy/read-policy.ts'
import { Check } from 'typebox/schema'
import { isRecord, limits } from '@toolyard/contract/terms'
import { permissionAliases, unknownFields } from '../../document/unknown-fields.ts'
import type { DocumentPath } from '../../finding/finding.ts'
import type { Remark } from '../../finding/finding-list.ts'
import { goQuote } from '../../finding/go-quote.ts'
import type { KindPlace, KindReading } from '../../layer/entry-kind.ts'
import { limitsOf } from '../../program/limit-fields.ts'
import { readNetwork } from '../../program/network.ts'
import { sortPermissions } from '../../tool/permissions.ts'
import type { JsonSchema, McpServer } from '../../tool/tool.ts'
import { wrongFields, withoutNulls } from '../../layer/kind-fields.ts'
import { readConnection } from './connection.ts'
import { McpEntry, McpFields } from './definition.ts'
import { openLock, type OpenLock } from './lock.ts'
import { acceptedTools } from './accepted-tools.ts'
import { fromOtherPrograms } from './pasted.ts'

const aliases = { ...permissionAliases, timeout: 'timeoutSec', env: 'env into mcp', args: 'args into mcp', url: 'url into mcp', headers: 'headers into mcp', allowedTools: 'tools', autoApprove: 'toolyard accept, which takes the tools of the server' }
const accepting = 'toolyard accept, which takes the tools of the server'
const headersOfSetting = 'headers with {"setting": NAME, "prefix": "Bearer "}: nobody logs in to servers here'
const nothingToSet = 'nothing: a server gets what it needs to start, and is bounded as docs/mcp-servers.md says'
/** Fields that other programs have beside those that are taken from them, and what to write instead. */
const serverAliases = {
  cwd: 'nothing: servers run in the workspace',
  timeout: 'timeoutSec beside mcp, in seconds; some programs have milliseconds here',
  requestTimeout: 'timeoutSec beside mcp, in seconds',
  tool_timeout_sec: 'timeoutSec beside mcp',
  alwaysAllow: accepting,
  autoApprove: accepting,
  autoApproved: accepting,
  trust: accepting,
  trusted: accepting,
  default_tools_approval_mode: accepting,
  disabledTools: 'tools beside mcp, with ! in front of each name',
  excludeTools: 'tools beside mcp, with ! in front of each name',
  includeTools: 'tools beside mcp',
  tools: 'tools beside mcp',
  envFile: '{"setting": NAME} into env for each variable, which workers have in their environment',
  env_file: '{"setting": NAME} into env for each variable, which workers have in their environment',
  env_vars: '{"setting": NAME} into env for each variable',
  env_keys: '{"setting": NAME} into env for each variable',
  inputs: '{"setting": NAME} in place of each input',
  oauth: headersOfSetting,
  auth: headersOfSetting,
  authorization: headersOfSetting,
  authProviderType: headersOfSetting,
  apiKey: headersOfSetting,
  headersHelper: headersOfSetting,
  requestInit: 'headers',
  requestOptions: 'headers',
  initTimeout: nothingToSet,
  startupTimeout: nothingToSet,
  startup_timeout_sec: nothingToSet,
  startup_timeout_ms: nothingToSet,
  connect_timeout: nothingToSet,
  transport: 'command, or url of streamable HTTP'
}

/**
 * Makes what reads the entries of one manifest that name an MCP server: which server, and which of its tools were accepted. Nothing is
 * started and nobody is asked; without accepted tools nothing is published.
 */
export function mcpEntryReader (): (written: Record<string, unknown>, place: KindPlace) => Promise<KindReading> {
  let lock: OpenLock | undefined
  return async (written, place) => {
    lock ??= openLock(place.file, place.readLock)
    return await readMcpEntry(written, place, lock)
  }
}

async function readMcpEntry (written: Record<string, unknown>, place: KindPlace, lock: OpenLock): Promise<KindReading> {
  const { file, index, names } = place
  const entry = fromOtherPrograms(withoutNulls(written, 'mcp'))
  const path: DocumentPath = ['tools', index]
  const name = typeof entry['name'] === 'string' ? entry['name'] : ''
  const about = (remark: Remark): Remark => ({ ...remark, index, ...name !== '' && { tool: name }, message: `tool[${index}] ${goQuote(name)}: ${remark.message}` })
  const ignored = [
    ...unknownFields(entry, { path, definition: McpEntry, all: true, aliases }),
    ...isRecord(entry['mcp']) ? unknownFields(entry['mcp'], { path: [...path, 'mcp'], definition: McpFields, all: true, aliases: serverAliases }) : []
  ].map((fault): Remark => ({ severity: 'warning', ...fault, index, ...name !== '' && { tool: name } }))
  const faults = wrongFields(McpEntry, entry, { path, rule: 'mcp/server', page: 'docs/mcp-servers.md' })
    .map(fault => fault.path?.at(-1) === 'type' ? { ...fault, fix: 'Leave type out, and write the URL of streamable HTTP, which mostly ends with /mcp: no other transport is spoken here.' } : fault)
  if (faults.length > 0 || !isEntry(entry)) return { entries: [], findings: [...ignored, ...faults.map(about)] }
  if (names.has(name)) faults.push(fault([...path, 'name'], 'another MCP server of this manifest has this name', 'Rename one of the two.'))
  names.add(name)
  const read = readConnection(entry.mcp, { file, path: [...path, 'mcp'] })
  const rules = rulesOf(entry)
  faults.push(...await policyRemarks(rules, anyArguments, path))
  if (read.connection === undefined || faults.length > 0) {
    return { entries: [], findings: [...ignored, ...[...faults, ...read.findings].map(about)] }
  }

  const { permissions, unknown } = permissionsOf(entry, read.connection.kind)
  // A URL is the one host of a server that is no process.
  const network = readNetwork(read.connection.kind === 'http' ? undefined : entry.network, permissions, path, entry.unixSockets)
  if (network.faults.length > 0) return { entries: [], findings: [...ignored, ...network.faults.map(about)] }
  const lockPlace = await lock.place()
  const isOff = entry.disabled === true || entry.enabled === false
  const server: McpServer = {
    name,
    connection: read.connection,
    prefix: entry.prefix ?? `${name}_`,
    filter: entry.tools ?? [],
    ...network.held,
    ...entry.limits !== undefined && { limits: limitsOf(entry.limits) },
    source: { format: 'agentcli', file, index },
    lock: lockPlace.file,
    ...entry.asks === true && { asks: true },
    ...isOff && { off: true }
  }
  const timeoutSec = Math.min(entry.timeoutSec ?? 0, limits.toolTimeoutSec.max)
  const accepted = await acceptedTools(server, {
    schemas: place.schemas,
    lock,
    common: {
      enabled: !isOff,
      idempotent: entry.idempotent ?? false,
      override: entry.override ?? false,
      ...entry.asks === true && { asks: true },
      ...rules.length > 0 && { policy: rules },
      ...timeoutSec > 0 && { timeoutSec }
    }
  })
  return {
    entries: accepted.entries,
    findings: [...ignored, ...[...read.findings, ...unknown, ...accepted.findings].map(about)],
    files: [lockPlace.file, ...lockPlace.older === undefined ? [] : [lockPlace.older]],
    servers: [server]
  }
}

/** Rules of a server are about all of its tools. */
const anyArguments: JsonSchema = { type: 'object', additionalProperties: true }

/** Whoever calls a URL uses the network, whatever the entry says. */
function permissionsOf ({ permissions }: McpEntry, kind: 'stdio' | 'http'): { permissions: McpServer['permissions'], unknown: Remark[] } {
  const sorted = sortPermissions([...permissions ?? [], ...kind === 'http' ? ['network'] : []])
  return {
    permissions: permissions === undefined && kind === 'stdio' ? undefined : sorted.permissions,
    unknown: sorted.unknown.map(each => ({ severity: 'warning', rule: 'P18', message: `${goQuote(each)} is no known permission and is ignored`, fix: 'Use read_repo, write_files or network.' }))
  }
}

function isEntry (entry: Record<string, unknown>): entry is McpEntry & Record<string, unknown> {
  return Check(McpEntry, entry)
}

function fault (path: DocumentPath, message: string, fix: string): Remark {
  return { severity: 'error', rule: 'mcp/server', path, message, fix }
}
