import type { McpServer, Tool } from '@toolyard/manifests'
import type { RunContext } from '../run/outcome.ts'

/** A server as a tool: all of its tools are shut in alike, and it may have none yet. */
export function serverTool (server: McpServer): Tool {
  const { name, permissions, network, limits, source } = server
  return {
    name,
    description: '',
    parameters: {},
    jobType: 'mcp',
    enabled: true,
    idempotent: false,
    ...(permissions === undefined ? {} : { permissions }),
    ...(network === undefined ? {} : { network }),
    ...(limits === undefined ? {} : { limits }),
    source,
    run: { kind: 'mcp', server, remote: '', digest: '' }
  }
}

/** Whose connection to an MCP server a call may use. */
export function scopeOf ({ tenant, session }: RunContext): { scope?: string, sessionId?: string } {
  if (tenant === undefined && session === undefined) return {}
  const scope = JSON.stringify([tenant ?? null, session?.id ?? null])
  return session === undefined ? { scope } : { scope, sessionId: session.id }
}
