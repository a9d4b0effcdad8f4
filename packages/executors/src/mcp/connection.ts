import type { Client, Transport } from '@modelcontextprotocol/client'
import { argumentHeaders, errorCode, questionKinds, thrownAs, type McpTool } from '@toolyard/contract/terms'
import type { McpServer } from '@toolyard/manifests'
import { onAbort, readWithShare, sharedAbort, type LoopTurns } from '@toolyard/runtime'
import { createLineSplitter } from '@toolyard/sandbox'
import { isHeaderText } from '../run/header-secret.ts'
import type { TraceFields } from '../run/trace-fields.ts'
import type { WorkerHost } from '../run/tool-call.ts'
import { createHttpTransport, openFault } from './wire/http-transport.ts'
import type { CallResult } from './wire/message.ts'
import { createMessageReader, ServerFault, UnsentFault, type MessageReader } from './wire/message-reader.ts'
import { hasWritten, WrittenTexts } from './wire/message-text.ts'
import { createPipeTransport, wasClosed } from './wire/pipe-transport.ts'
import { startServer, type ServerPlace } from './wire/server-process.ts'
import { askedCapabilities, createTurns, never, nobodyAnswers, withoutRoots } from './server-questions.ts'
import { settingTexts } from './wire/setting-text.ts'
import { createToolList } from './tool-list.ts'

/*
 * One connection to one server: open until it ends, for any reason; it is never opened again. Its list of tools is
 * read at the beginning, when the server says that it changed, and when it is old.
 */

interface Opener {
  worker: WorkerHost
  /** Messages of all servers are read in these. */
  turns: LoopTurns
  place: ServerPlace
  /** Values that must not come out again. */
  secrets: readonly string[]
  /** Takes what a server writes to its stderr. */
  onLine: (line: string) => void
  /** Takes what is wrong with what a server sends, where it can be used all the same. */
  onFault: (message: string) => void
}

export interface RemoteCall {
  tool: string
  /** Of its arguments, as it was accepted. */
  schema: unknown
  arguments: Record<string, unknown>
  signal: AbortSignal
  /** The request's own fields, beside what the client adds. */
  meta: TraceFields
  /** For a server of 2026 that has asked something. */
  brought: object
  /** Answers what a server of 2025 asks while the call runs. */
  onAsked: (method: string, params: unknown) => Promise<Record<string, unknown>>
  onProgress: (progress: { progress: number, total?: number | undefined, message?: string | undefined }) => void
}

export interface Connection {
  tools (): Promise<McpTool[]>
  /** The current digest of a tool; undefined when no tool has this name. */
  digestOf (tool: string): Promise<string | undefined>
  /** Rejects with what the client throws. */
  call (call: RemoteCall): Promise<CallResult>
  /** Whether the server still answers, as far as it can be asked. */
  answers (timeoutMs: number): Promise<boolean>
  /** Says whether no call uses it. */
  rest (isResting: boolean): void
  /** Fulfilled with the reason when it has ended. */
  ended: Promise<string>
  /** Whether the server keeps a session for it, which it may forget. */
  readonly hasSession: boolean
  /** Set once it has ended. */
  readonly reason: string | undefined
  secrets: readonly string[]
  close (): Promise<void>
}

const clientInfo = { name: 'toolyard', version: '0.1.0' }
const openMs = 30_000
/** A message may be so many times as long as an output: servers send one twice, once as a text in JSON. */
const messageShare = 4
/** A call's own time ends it; this is above every one of them. */
const longestCallMs = 86_400_000
const stderrBytesPerSecond = 1_048_576
/** Servers of older revisions may not answer what they don't know. */
const probeMs = 3_000
/** How long the next call waits for what a server says about one that was given up. */
const lastWordsMs = 3_000

/**
 * Opens a connection and reads the tools.
 *
 * @throws an error with the reason.
 */
export async function openConnection (server: McpServer, host: Opener, signal: AbortSignal): Promise<Connection> {
  try {
    return await open(server, host, { signal, mode: 'auto' })
  } catch (error) {
    // A server of an older revision may answer anything to the first question, which it doesn't know.
    if (server.connection.kind === 'stdio' || signal.aborted || thrownAs(error, ServerFault) !== undefined) throw error
    return await open(server, host, { signal, mode: 'legacy' }).catch((again: unknown) => { throw openFault(again) ?? again })
  }
}

interface Opening {
  signal: AbortSignal
  /** Whether it is asked for its revision first. */
  mode: 'auto' | 'legacy'
}

async function open (server: McpServer, host: Opener, { signal, mode }: Opening): Promise<Connection> {
  const life = sharedAbort()
  let reason: string | undefined
  let onEnded: (reason: string) => void = () => {}
  const ended = new Promise<string>(resolve => { onEnded = resolve })
  const end = (why: string): void => {
    reason ??= why
    life.abort()
    onEnded(reason)
  }
  const { worker: { threads }, turns, place: { owner = '' }, secrets } = host
  const reader = createMessageReader({ threads, turns, owner, secrets }, life.signal)
  const { Client } = await import('@modelcontextprotocol/client')
  const client = new Client(clientInfo, {
    capabilities: server.asks === true ? askedCapabilities : {},
    versionNegotiation: { mode, probe: { timeoutMs: probeMs } },
    inputRequired: { autoFulfill: false },
    // The schemas of a server are not compiled here.
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- Only the server knows the type.
    jsonSchemaValidator: { getValidator: () => data => ({ valid: true, data: data as never, errorMessage: undefined }) }
  })
  const oneByOne = createTurns()
  const texts = new WrittenTexts()
  let current: RemoteCall | undefined
  /** A call was given up, and what its server has asked meanwhile may be on its way. */
  let isGivingUp = false
  for (const { method } of server.asks === true ? [questionKinds.form, questionKinds.sampling] : []) {
    client.setRequestHandler(method, async ({ params }, { mcpReq: { id } }) =>
      // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- Answers are of the form that the server asks for.
      texts.answer(id, await (isGivingUp ? never : current?.onAsked ?? nobodyAnswers)(method, params)) as never)
  }
  const answers = async (timeout: number): Promise<boolean> => (
    await client.ping({ timeout }).then(() => true, (error: unknown) => errorCode(error) !== 'REQUEST_TIMEOUT')
  )
  const { transport, release, rest } = await openTransport(server, host, { reader, end, texts })
  const send = transport.send.bind(transport)
  transport.send = async (sent, options) => {
    const message = withoutRoots(texts.whole(sent))
    reader.sent(message)
    await (hasWritten(message) ? texts.during(message, async () => { await send(message, options) }) : send(message, options))
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
  const off = onAbort(signal, () => { void close() })
  try {
    signal.throwIfAborted()
    await client.connect(transport, { timeout: openMs, signal })
    client.onclose = () => { end('it closed the connection') }
    const list = createToolList(client, { maxBytes: messageShare * host.worker.maxOutputBytes, report: host.onFault })
    await list.ready()
    return {
      tools: list.read,
      digestOf: list.digestOf,
      call: async call => {
        if (server.asks !== true || client.getProtocolEra() === 'modern') return await callTool(client, reader, call)
        // Nothing tells which call a server asks for: there is one at a time.
        return await oneByOne(call.signal, async () => {
          if (reason !== undefined) throw new UnsentFault(reason)
          current = call
          return await callTool(client, reader, call).finally(() => {
            current = undefined
            isGivingUp = call.signal.aborted
          })
        }, async () => {
          // What it asked before it hears of that comes before its answer to this.
          if (isGivingUp) await answers(lastWordsMs)
          isGivingUp = false
        })
      },
      answers,
      rest: isResting => { rest?.(isResting) },
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
    off()
  }
}

interface Opened {
  transport: Transport
  release: () => Promise<void>
  rest?: (isResting: boolean) => void
}

interface Receiver {
  reader: MessageReader
  end: (reason: string) => void
  texts: WrittenTexts
}

async function openTransport (
  { connection }: McpServer, { worker, place, onLine }: Opener, { reader, end, texts }: Receiver
): Promise<Opened> {
  const maxBytes = messageShare * worker.maxOutputBytes
  const values = { env: worker.env, stored: place.stored }
  if (connection.kind === 'stdio') {
    const started = await startServer(connection, worker, place)
    if (!started.ok) throw new ServerFault(started.error.message, started.error)
    const { server } = started
    const lines = createLineSplitter(onLine)
    readWithShare(server.stderr, chunk => { lines.add(chunk) }, stderrBytesPerSecond)
    const transport = createPipeTransport(server, { reader, maxBytes, onEnd: end })
    return { transport, release: async () => {}, rest: server.rest }
  }
  const headers = settingTexts(connection.headers, values)
  if (!headers.ok) throw new ServerFault(`the worker has no ${headers.missing}`)
  const address = settingTexts({ url: connection.url }, values)
  if (!address.ok) throw new ServerFault(`the worker has no ${address.missing}`)
  const unfit = Object.entries(headers.texts).find(([, value]) => !isHeaderText(value))
  if (unfit !== undefined) throw new ServerFault(`the value of its header ${unfit[0]} holds what no header can carry: a line break, or letters beyond Latin-1`)
  const { texts: { url = '' } } = address
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) throw new ServerFault('the value of its url is no http:// or https:// address')
  const textOf = (json: string): string => texts.of(json)
  return await createHttpTransport(url, headers.texts, { http: worker.http, reader, maxBytes, onFault: end, textOf })
}

async function callTool (client: Client, reader: MessageReader, call: RemoteCall): Promise<CallResult> {
  const { tool, schema, meta, signal, onProgress, brought } = call
  // The reader knows the call by this object, which the client passes on as it is.
  const args = { ...call.arguments }
  const hasMeta = Object.keys(meta).length > 0
  const request = { method: 'tools/call', params: { name: tool, arguments: args, ...brought, ...(hasMeta ? { _meta: { ...meta } } : {}) } } as const
  const headers = client.getProtocolEra() === 'modern' ? argumentHeaders(schema, args) : {}
  let result: CallResult | undefined
  await client.request(request, { signal, headers, timeout: longestCallMs, onprogress: onProgress })
    .finally(() => { result = reader.endCall(args) })
  if (result === undefined) throw Object.assign(new ServerFault('its answer is no result of a call'), { code: 'INVALID_RESULT' })
  return result
}
