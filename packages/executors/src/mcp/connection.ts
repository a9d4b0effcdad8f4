import type { Client, Transport } from '@modelcontextprotocol/client'
import { mcpDigest } from '@toolyard/contract/mcp-digest'
import { errorCode, isMcpTool, mostMcpTools, type McpTool } from '@toolyard/contract/terms'
import type { McpServer } from '@toolyard/manifests'
import { sharedAbort } from '@toolyard/runtime'
import { createLineSplitter } from '@toolyard/sandbox'
import type { Threads } from '../run/threads.ts'
import type { TraceFields } from '../run/trace-fields.ts'
import type { HttpPolicy } from '../http/run-http.ts'
import { createGuardedFetch } from './http-fetch.ts'
import type { CallResult } from './message.ts'
import { createMessageReader, ServerFault, type MessageReader } from './message-reader.ts'
import { createPipeTransport, wasClosed } from './pipe-transport.ts'
import { startServer, type ServerProcessHost } from './server-process.ts'
import { settingTexts } from './setting-text.ts'

/*
 * One connection to one server: open until it ends, for any reason; it is never opened again. Its list of tools is
 * read at the beginning, when the server says that it changed, and when it is old.
 */

/** What connections are opened with. */
export interface ConnectionHost extends ServerProcessHost {
  policy: HttpPolicy
  threads: Threads
  /** Bytes of one message. */
  maxMessageBytes: number
  /** Takes what a server writes to its stderr. */
  onLine: (line: string) => void
}

/** A call on its way. */
export interface RemoteCall {
  tool: string
  arguments: Record<string, unknown>
  signal: AbortSignal
  /** What the request says of itself, beside what the client adds. */
  meta: TraceFields
  onProgress: (progress: { progress: number, total?: number | undefined, message?: string | undefined }) => void
}

export interface Connection {
  /** The tools that the server has now. */
  tools (): Promise<ReadonlyMap<string, McpTool>>
  /** The current digest of a tool; undefined when no tool has this name. */
  digestOf (tool: string): Promise<string | undefined>
  /** Rejects with what the client throws. */
  call (call: RemoteCall): Promise<CallResult>
  /** Whether the server still answers, as far as it can be asked. */
  answers (timeoutMs: number): Promise<boolean>
  /** Fulfilled with the reason when it has ended. */
  ended: Promise<string>
  /** Whether the server keeps a session for it, which it may forget. */
  readonly hasSession: boolean
  /** Set once it has ended. */
  readonly reason: string | undefined
  /** Values that must not come out again. */
  secrets: readonly string[]
  close (): Promise<void>
}

const clientInfo = { name: 'toolyard', version: '0.1.0' }
/** For a list of tools without a notice of changes. */
const listAgeMs = 60_000
const mostPages = 64
const listMs = 30_000
/** A call's own time ends it; this is above every one of them. */
const longestCallMs = 86_400_000
/** Servers of older revisions may not answer what they don't know. */
const probeMs = 3_000

/**
 * Opens a connection and reads the tools.
 *
 * @throws an error with the reason.
 */
export async function openConnection (server: McpServer, host: ConnectionHost, signal: AbortSignal): Promise<Connection> {
  const life = sharedAbort()
  let reason: string | undefined
  let onEnded: (reason: string) => void = () => {}
  const ended = new Promise<string>(resolve => { onEnded = resolve })
  const end = (why: string): void => {
    reason ??= why
    life.abort()
    onEnded(reason)
  }
  const reader = createMessageReader(host.threads, life.signal)
  const { Client } = await import('@modelcontextprotocol/client')
  const client = new Client(clientInfo, {
    capabilities: {},
    versionNegotiation: { mode: 'auto', probe: { timeoutMs: probeMs } },
    inputRequired: { autoFulfill: false },
    // The schemas of a server are not compiled here.
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- Only the server knows the type.
    jsonSchemaValidator: { getValidator: () => data => ({ valid: true, data: data as never, errorMessage: undefined }) }
  })
  const { transport, release, secrets } = await openTransport(server, host, { reader, end })
  const send = transport.send.bind(transport)
  transport.send = async (message, options) => {
    reader.sent(message)
    await send(message, options)
  }
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => {
    closing ??= (async () => {
      end(wasClosed)
      await client.close().catch(() => {})
      await transport.close().catch(() => {})
      await release()
    })()
    return closing
  }
  const onAbort = (): void => { void close() }
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    signal.throwIfAborted()
    await client.connect(transport, { timeout: listMs, signal })
    client.onclose = () => { end('it closed the connection') }
    const list = createToolList(client)
    await list.read()
    return {
      tools: list.read,
      digestOf: list.digestOf,
      call: async call => await callTool(client, reader, call),
      answers: async timeout => await client.ping({ timeout }).then(() => true, (error: unknown) => errorCode(error) !== 'REQUEST_TIMEOUT'),
      ended,
      get hasSession () { return transport.sessionId !== undefined },
      get reason () { return reason },
      secrets,
      close
    }
  } catch (error) {
    // The client closes a connection that it can't use.
    const why: unknown = reason === undefined || reason === wasClosed ? error : new ServerFault(reason)
    await close()
    throw why
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

interface Opened {
  transport: Transport
  release: () => Promise<void>
  secrets: readonly string[]
}

interface Opening {
  reader: MessageReader
  end: (reason: string) => void
}

async function openTransport ({ connection }: McpServer, host: ConnectionHost, { reader, end }: Opening): Promise<Opened> {
  const maxBytes = host.maxMessageBytes
  if (connection.kind === 'stdio') {
    const texts = settingTexts(connection.env, host.env)
    const server = await startServer(connection, host)
    if ('code' in server) throw new ServerFault(server.message, server)
    const lines = createLineSplitter(host.onLine)
    server.stderr.on('data', (chunk: Buffer) => { lines.add(chunk) })
    const transport = createPipeTransport(server, { reader, maxBytes, onEnd: end })
    return { transport, release: async () => {}, secrets: 'missing' in texts ? [] : texts.secrets }
  }
  const headers = settingTexts(connection.headers, host.env)
  if ('missing' in headers) throw new ServerFault(`the worker has no environment variable ${headers.missing}`)
  const guarded = createGuardedFetch(connection.url, host.policy, { reader, maxBytes, onFault: end })
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
  const options = { fetch: guarded.fetch, requestInit: { headers: headers.texts } }
  const transport = new StreamableHTTPClientTransport(new URL(connection.url), options)
  return {
    transport,
    release: async () => { await guarded.close() },
    secrets: headers.secrets
  }
}

async function callTool (client: Client, reader: MessageReader, call: RemoteCall): Promise<CallResult> {
  const { tool, meta, signal, onProgress } = call
  // The reader knows the call by this object, which the client passes on as it is.
  const args = { ...call.arguments }
  const hasMeta = Object.keys(meta).length > 0
  const request = { method: 'tools/call', params: { name: tool, arguments: args, ...(hasMeta ? { _meta: { ...meta } } : {}) } } as const
  let result: CallResult | undefined
  await client.request(request, { signal, timeout: longestCallMs, onprogress: onProgress }).finally(() => { result = reader.endCall(args) })
  if (result === undefined) throw Object.assign(new ServerFault('its answer is no result of a call'), { code: 'INVALID_RESULT' })
  return result
}

interface ToolList {
  read: () => Promise<ReadonlyMap<string, McpTool>>
  digestOf: Connection['digestOf']
}

/** The tools of a connection, with their digests. */
function createToolList (client: Client): ToolList {
  let current: Promise<ReadonlyMap<string, McpTool>> | undefined
  let digests = new Map<string, string>()
  let readAt = 0
  client.setNotificationHandler('notifications/tools/list_changed', () => { current = undefined })
  const read = async (): Promise<ReadonlyMap<string, McpTool>> => {
    if (performance.now() - readAt > listAgeMs) current = undefined
    if (current === undefined) {
      readAt = performance.now()
      const reading = listTools(client).then(tools => {
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

async function listTools (client: Client): Promise<ReadonlyMap<string, McpTool>> {
  const tools = new Map<string, McpTool>()
  let cursor: string | undefined
  for (let page = 0; page < mostPages; page++) {
    const answer = await client.request({ method: 'tools/list', params: cursor === undefined ? {} : { cursor } }, { timeout: listMs })
    for (const tool of answer.tools as unknown[]) {
      if (!isMcpTool(tool)) throw new ServerFault('its list holds something else than tools')
      tools.set(tool.name, tool)
    }
    if (tools.size > mostMcpTools) throw new ServerFault(`it lists more than ${mostMcpTools} tools`)
    cursor = answer.nextCursor
    if (cursor === undefined) return tools
  }
  throw new ServerFault(`it lists its tools on more than ${mostPages} pages`)
}
