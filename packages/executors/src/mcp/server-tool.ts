import type { McpServer, Tool } from '@toolyard/manifests'

/** A server as a tool: all of its tools are shut in alike, and it may have none yet. */
export function serverTool (server: McpServer): Tool {
  const { name, permissions, limits, source } = server
  return {
    name,
    description: '',
    parameters: {},
    jobType: 'mcp',
    enabled: true,
    idempotent: false,
    ...(permissions === undefined ? {} : { permissions }),
    ...(limits === undefined ? {} : { limits }),
    source,
    run: { kind: 'mcp', server, remote: '', digest: '' }
  }
}
