import type { McpServer } from '@toolyard/manifests'
import type { WorkerHost } from '../run/tool-call.ts'
import { slotId } from './server-tool.ts'

/** Of one server, so that no server takes the place of what others report. */
const mostReports = 200

/** Gives what writes to the log what is wrong with a server, and was not written before. */
export function createReports (logger: WorkerHost['logger']): (server: McpServer, message: string) => void {
  const reported = new Map<string, Set<string>>()
  return (server, message) => {
    const id = slotId(server, '')
    const known = reported.get(id) ?? new Set()
    if (known.has(message) || known.size >= mostReports) return
    reported.set(id, known.add(message))
    logger?.warn({ server: server.name, file: server.source.file, reason: message }, `MCP server ${JSON.stringify(server.name)}: ${message}`)
  }
}
