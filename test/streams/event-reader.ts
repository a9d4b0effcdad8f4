import { request as httpRequest, type IncomingMessage } from 'node:http'
import type { Cleanup } from '../support/cleanup.ts'
import { waitFor } from '../support/condition.ts'

/** One event as it came; `data` is parsed. */
interface ReceivedEvent {
  name: string
  id: string | undefined
  data: Record<string, unknown>
}

/** An event stream as a test reads it. */
export interface EventReader {
  status: number
  headers: IncomingMessage['headers']
  events: ReceivedEvent[]
  /** Lines that begin with `:`, and the value of `retry`. */
  comments: string[]
  retry: string | undefined
  /** The whole text so far. */
  text: () => string
  /** The messages of the log lines so far. */
  lines: () => string[]
  lastId: () => string
  isEnded: () => boolean
  /** Waits for the end, by whichever side. */
  ended: () => Promise<void>
  next: (name: string, matches?: (data: Record<string, unknown>) => boolean) => Promise<ReceivedEvent>
  pause: () => void
  resume: () => void
  close: () => void
}

interface ReaderRequest {
  key?: string
  headers?: Record<string, string>
  /** Sent by POST. */
  body?: unknown
}

/** Opens an event stream and collects what it sends; the test's end closes it. */
export async function openReader (t: Cleanup, url: string, { key, headers, body }: ReaderRequest = {}): Promise<EventReader> {
  const client = httpRequest(url, {
    method: body === undefined ? 'GET' : 'POST',
    agent: false,
    headers: {
      accept: 'text/event-stream',
      ...(key === undefined ? {} : { 'x-api-key': key }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers
    }
  })
  t.teardown(() => { client.destroy() })
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    client.once('response', resolve)
    client.once('error', reject)
    client.end(body === undefined ? undefined : JSON.stringify(body))
  })
  return collect(response, () => { client.destroy() })
}

function collect (response: IncomingMessage, close: () => void): EventReader {
  let text = ''
  let rest = ''
  let isEnded = false
  const reader: EventReader = {
    status: response.statusCode ?? 0,
    headers: response.headers,
    events: [],
    comments: [],
    retry: undefined,
    text: () => text,
    lines: () => reader.events.filter(({ name }) => name === 'log_append').map(({ data }) => String(data['message'])),
    lastId: () => reader.events.findLast(({ id }) => id !== undefined)?.id ?? '',
    isEnded: () => isEnded,
    ended: async () => { await waitFor('the stream ends', () => isEnded) },
    next: async (name, matches = () => true) => await waitFor(`event ${name}`, () => reader.events.find(event => event.name === name && matches(event.data))),
    pause: () => { response.pause() },
    resume: () => { response.resume() },
    close
  }
  const isStream = response.headers['content-type']?.startsWith('text/event-stream') === true
  response.setEncoding('utf8')
  response.on('data', (chunk: string) => {
    text += chunk
    if (!isStream) return
    const blocks = (rest + chunk).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) addBlock(reader, block)
  })
  response.on('error', () => {})
  response.on('close', () => { isEnded = true })
  return reader
}

function addBlock (reader: EventReader, block: string): void {
  const event: ReceivedEvent = { name: 'message', id: undefined, data: {} }
  let hasData = false
  for (const line of block.split('\n')) {
    if (line.startsWith(':')) reader.comments.push(line)
    else if (line.startsWith('retry: ')) reader.retry = line.slice('retry: '.length)
    else if (line.startsWith('event: ')) event.name = line.slice('event: '.length)
    else if (line.startsWith('id: ')) event.id = line.slice('id: '.length)
    else if (line.startsWith('data: ')) {
      hasData = true
      event.data = JSON.parse(line.slice('data: '.length)) as Record<string, unknown>
    } else throw new Error(`not a line of an event stream: ${line}`)
  }
  if (hasData) reader.events.push(event)
}
