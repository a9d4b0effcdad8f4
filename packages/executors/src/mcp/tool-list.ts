import type { Client } from '@modelcontextprotocol/client'
import { mostMcpTools, storedJson, type McpTool } from '@toolyard/contract/terms'
import { sentTool, type SentTool } from './wire/message.ts'
import { ServerFault } from './wire/message-reader.ts'

/** The tools that a server has now. What they say may be long: their digests are kept alone. */
export interface ToolList {
  /** Done when the list was read once. */
  ready: () => Promise<unknown>
  /** Asks the server for them. */
  read: () => Promise<McpTool[]>
  digestOf: (tool: string) => Promise<string | undefined>
}

type Listed = Exclude<SentTool, { fault: string }>

/** For a list of tools without a notice of changes. */
const listAgeMs = 60_000
const listMs = 30_000
const mostPages = 64

interface ListOptions {
  /** Bytes of all tools of a list. */
  maxBytes: number
  /** Takes what is wrong with a tool that is left out. */
  report: (message: string) => void
}

/**
 * Reads the tools of a connection at its beginning, when the server says that they changed, and when they are old; one list at a
 * time, however often they change.
 */
export function createToolList (client: Client, options: ListOptions): ToolList {
  let current: ReadonlyMap<string, string> = new Map()
  let reading: Promise<void> | undefined
  let readAt = -Infinity
  client.setNotificationHandler('notifications/tools/list_changed', () => { readAt = -Infinity })
  const readAnew = async (): Promise<void> => {
    readAt = performance.now()
    try {
      current = new Map((await listTools(client, options)).map(({ name, digest }) => [name, digest]))
    } catch (error) {
      readAt = -Infinity
      throw error
    } finally {
      reading = undefined
    }
  }
  const digests = async (): Promise<ReadonlyMap<string, string>> => {
    // The reading under way may be older than the last notice.
    await reading
    if (performance.now() - readAt > listAgeMs) await (reading ??= readAnew())
    return current
  }
  return {
    ready: digests,
    read: async () => (await listTools(client, options)).map(({ json }) => storedJson<McpTool>(json)),
    digestOf: async tool => (await digests()).get(tool)
  }
}

/** An odd tool is left out, by its name; some servers give a cursor again and again. */
async function listTools (client: Client, { maxBytes, report }: ListOptions): Promise<Listed[]> {
  const tools = new Map<string, Listed>()
  const cursors = new Set<string | undefined>()
  let listed = 0
  let bytes = 0
  for (let cursor: string | undefined; !cursors.has(cursor);) {
    if (cursors.size >= mostPages) throw new ServerFault(`it lists its tools on more than ${mostPages} pages`)
    cursors.add(cursor)
    const answer = await client.request({ method: 'tools/list', params: cursor === undefined ? {} : { cursor } }, { timeout: listMs })
    listed += answer.tools.length
    if (listed > mostMcpTools) throw new ServerFault(`it lists more than ${mostMcpTools} tools`)
    for (const { _meta: meta } of answer.tools) {
      // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- The reader of messages has put it there.
      const tool = meta?.[sentTool] as SentTool
      if ('fault' in tool) {
        report(`its tool ${tool.shown} is left out: ${tool.fault}`)
        continue
      }
      bytes += Buffer.byteLength(tool.json)
      if (bytes > maxBytes) throw new ServerFault(`its tools have more than ${maxBytes} bytes`)
      tools.set(tool.name, tool)
    }
    if (answer.nextCursor === undefined) break
    cursor = answer.nextCursor
  }
  return [...tools.values()]
}
