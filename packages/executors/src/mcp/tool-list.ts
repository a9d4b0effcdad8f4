import type { Client } from '@modelcontextprotocol/client'
import { mcpDigest } from '@toolyard/contract/mcp-digest'
import { isMcpTool, isRecord, listedTool, mcpToolFault, mostMcpTools, type McpTool } from '@toolyard/contract/terms'
import { sentTool } from './message.ts'
import { ServerFault } from './message-reader.ts'

export interface ToolList {
  read: () => Promise<ReadonlyMap<string, McpTool>>
  digestOf: (tool: string) => Promise<string | undefined>
}

/** For a list of tools without a notice of changes. */
const listAgeMs = 60_000
const listMs = 30_000
const mostPages = 64
/** UTF-16 units of a name in a message. */
const shownChars = 200

/**
 * Reads the tools of a connection at its beginning, when the server says that they changed, and when they are old.
 *
 * @param report takes what is wrong with a tool that is left out.
 */
export function createToolList (client: Client, report: (message: string) => void): ToolList {
  let current: Promise<ReadonlyMap<string, McpTool>> | undefined
  let digests = new Map<string, string>()
  let readAt = 0
  client.setNotificationHandler('notifications/tools/list_changed', () => { current = undefined })
  const read = async (): Promise<ReadonlyMap<string, McpTool>> => {
    if (performance.now() - readAt > listAgeMs) current = undefined
    if (current === undefined) {
      readAt = performance.now()
      const reading = listTools(client, report).then(tools => {
        digests = new Map([...tools].map(([name, tool]) => [name, mcpDigest(tool)]))
        return tools
      })
      current = reading
      reading.catch(() => { if (current === reading) current = undefined })
    }
    return await current
  }
  return {
    read,
    async digestOf (tool) {
      await read()
      return digests.get(tool)
    }
  }
}

/** An odd tool is left out, by its name; some servers give a cursor again and again. */
async function listTools (client: Client, report: (message: string) => void): Promise<ReadonlyMap<string, McpTool>> {
  const tools = new Map<string, McpTool>()
  const cursors = new Set<string | undefined>()
  let listed = 0
  for (let cursor: string | undefined; !cursors.has(cursor);) {
    if (cursors.size >= mostPages) throw new ServerFault(`it lists its tools on more than ${mostPages} pages`)
    cursors.add(cursor)
    const answer = await client.request({ method: 'tools/list', params: cursor === undefined ? {} : { cursor } }, { timeout: listMs })
    listed += answer.tools.length
    if (listed > mostMcpTools) throw new ServerFault(`it lists more than ${mostMcpTools} tools`)
    for (const { _meta: meta } of answer.tools) {
      const tool: unknown = meta?.[sentTool]
      const fault = mcpToolFault(tool)
      if (fault === undefined && isMcpTool(tool)) tools.set(tool.name, listedTool(tool))
      else report(`its tool ${nameOf(tool)} is left out: ${fault}`)
    }
    if (answer.nextCursor === undefined) break
    cursor = answer.nextCursor
  }
  return tools
}

function nameOf (tool: unknown): string {
  const name = isRecord(tool) ? tool['name'] : undefined
  return typeof name === 'string' && name !== '' ? JSON.stringify(name.slice(0, shownChars)) : 'without a name'
}
