import type { Client } from '@modelcontextprotocol/client'
import { mostMcpTools, storedJson, type McpTool } from '@toolyard/contract/terms'
import { sentTool, type SentTool } from './message.ts'
import { ServerFault } from './message-reader.ts'

/** The tools that a server has now, and their digests. */
export interface ToolList {
  /** Done when the list is there. */
  ready: () => Promise<unknown>
  read: () => Promise<McpTool[]>
  digestOf: (tool: string) => Promise<string | undefined>
}

type Listed = Exclude<SentTool, { fault: string }>

/** For a list of tools without a notice of changes. */
const listAgeMs = 60_000
const listMs = 30_000
const mostPages = 64

/**
 * Reads the tools of a connection at its beginning, when the server says that they changed, and when they are old.
 *
 * @param report takes what is wrong with a tool that is left out.
 */
export function createToolList (client: Client, report: (message: string) => void): ToolList {
  let current: Promise<ReadonlyMap<string, Listed>> | undefined
  let readAt = 0
  client.setNotificationHandler('notifications/tools/list_changed', () => { current = undefined })
  const read = async (): Promise<ReadonlyMap<string, Listed>> => {
    if (performance.now() - readAt > listAgeMs) current = undefined
    if (current === undefined) {
      readAt = performance.now()
      const reading = listTools(client, report)
      current = reading
      reading.catch(() => { if (current === reading) current = undefined })
    }
    return await current
  }
  return {
    ready: read,
    async read () { return [...(await read()).values()].map(({ json }) => storedJson<McpTool>(json)) },
    async digestOf (tool) { return (await read()).get(tool)?.digest }
  }
}

/** An odd tool is left out, by its name; some servers give a cursor again and again. */
async function listTools (client: Client, report: (message: string) => void): Promise<ReadonlyMap<string, Listed>> {
  const tools = new Map<string, Listed>()
  const cursors = new Set<string | undefined>()
  let listed = 0
  for (let cursor: string | undefined; !cursors.has(cursor);) {
    if (cursors.size >= mostPages) throw new ServerFault(`it lists its tools on more than ${mostPages} pages`)
    cursors.add(cursor)
    const answer = await client.request({ method: 'tools/list', params: cursor === undefined ? {} : { cursor } }, { timeout: listMs })
    listed += answer.tools.length
    if (listed > mostMcpTools) throw new ServerFault(`it lists more than ${mostMcpTools} tools`)
    for (const { _meta: meta } of answer.tools) {
      // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- The reader of messages has put it there.
      const tool = meta?.[sentTool] as SentTool
      if ('fault' in tool) report(`its tool ${tool.shown} is left out: ${tool.fault}`)
      else tools.set(tool.name, tool)
    }
    if (answer.nextCursor === undefined) break
    cursor = answer.nextCursor
  }
  return tools
}
