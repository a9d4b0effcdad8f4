import { isRecord, withoutUndefined, type CallError } from '@toolyard/contract/terms'
import type { McpServer, Tool } from '@toolyard/manifests'
import { ownerOfCall, type RunContext } from '../run/outcome.ts'
import type { ServerPlace } from './wire/server-process.ts'
import { storedNamesOf } from './wire/setting-text.ts'

/** A server as a tool: all of its tools are shut in alike, and it may have none yet. */
export function serverTool (server: McpServer): Tool {
  const { name, permissions, network, unixSockets, limits, source } = server
  return {
    name,
    description: '',
    parameters: {},
    jobType: 'mcp',
    enabled: true,
    idempotent: false,
    ...withoutUndefined({ permissions, network, unixSockets, limits }),
    source,
    run: { kind: 'mcp', server, remote: '', digest: '' }
  }
}

/** Names what a worker keeps of a server for a scope. */
export function slotId ({ source, name }: McpServer, scope: string): string {
  return `${source.file}\0${name}\0${scope}`
}

/** What of a server's entry in its manifest its connections depend on. */
export function entryOf (server: McpServer): string {
  const { connection, permissions, network, unixSockets, limits, asks } = server
  return JSON.stringify([slotId(server, ''), connection, permissions, network, unixSockets, limits, asks])
}

/** Whose connection to an MCP server a call may use. One that was opened with stored secrets is of one key. */
export function scopeOf (
  server: McpServer, { tenant, session, keyName }: RunContext
): Pick<ServerPlace, 'scope' | 'sessionId' | 'owner'> {
  const key = storedNamesOf(server).length === 0 ? undefined : keyName
  const owner = ownerOfCall({ tenant, keyName })
  if (tenant === undefined && session === undefined && key === undefined) return { owner }
  const scope = JSON.stringify([tenant ?? null, session?.id ?? null, key ?? null])
  return session === undefined ? { scope, owner } : { scope, owner, sessionId: session.id }
}

/** The error of a call that has not reached its server. */
export function unavailable ({ name }: McpServer, why: string): CallError {
  return { code: 'TOOL_UNAVAILABLE', message: `MCP server ${JSON.stringify(name)} can't be used: ${why}` }
}

/** The error of a call that ended before its server was ready, and so has not reached it. */
export function unaskedError ({ name }: McpServer, error: CallError): CallError {
  if (error.code !== 'TOOL_TIMEOUT' || !isRecord(error.details)) return error
  return { ...error, details: { ...error.details, hint: `MCP server ${JSON.stringify(name)} was not ready in this time, and has not been asked: call again, or raise "timeoutSec" of its manifest entry.` } }
}
