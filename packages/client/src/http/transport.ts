import { ToolyardError, type ErrorCode } from './errors.ts'
import { readEvents, type ServerEvent } from './events.ts'
import { Exchange } from './exchange.ts'
import { exactJson, type Json } from './json.ts'
import { Backoff } from './backoff.ts'
import { record, type Fields, type Shape } from './shape.ts'

/** Where Toolyard is and who asks. */
export interface ToolyardOptions {
  /** Where the API is, with its base path if it has one; `TOOLYARD_URL`, else `http://127.0.0.1:3001`. */
  url?: string | undefined
  /** `TOOLYARD_API_KEY` when absent; an empty text sends none. */
  apiKey?: string | undefined
  /** How long a service that is away or overloaded is tried again, in milliseconds; 30 s. */
  retryMs?: number | undefined
  /** Reads and writes JSON; whole numbers beyond 2^53 are a `bigint` when absent. */
  json?: Json | undefined
  /** Sends requests in place of the global `fetch`. */
  fetch?: typeof fetch | undefined
}

/** A stream is sent once: it isn't tried again when the service is away. */
export type FileBody = string | Uint8Array<ArrayBuffer> | Blob | ReadableStream<Uint8Array>

/** One request. It may be sent more than once: what makes work carries an `Idempotency-Key`. */
export interface ApiRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  path: string
  query?: Readonly<Record<string, string | number | undefined>> | undefined
  body?: unknown
  /** A body that is sent as it is. */
  file?: FileBody
  headers?: Record<string, string>
  signal?: AbortSignal | undefined
  /** How long the service takes for its answer when all is well. */
  answerMs?: number
  /** Reads the answer, where it goes to a library that knows nothing of the caller's `json`. */
  parse?: Json['parse']
}

/** A request whose body is JSON. */
type WrittenRequest = Omit<ApiRequest, 'body'> & { json?: string }

/** Silence beyond what is expected, until a connection counts as broken; the service sends heartbeats more often. */
const silenceMs = 60_000

/** Sends requests to one service, and sends them again while it is away. */
export class Transport {
  readonly #url: string
  readonly #apiKey: string | undefined
  readonly #retryMs: number
  readonly #fetch: typeof fetch
  readonly #json: Json

  constructor (options: ToolyardOptions) {
    const url = options.url ?? setting('TOOLYARD_URL') ?? 'http://127.0.0.1:3001'
    if (!/^(https?:\/\/|\/|$)/.test(url)) throw new TypeError(`The url of Toolyard must begin with http:// or https://, unlike '${url}'`)
    this.#url = url.replace(/\/+$/, '')
    this.#apiKey = options.apiKey ?? setting('TOOLYARD_API_KEY')
    this.#retryMs = options.retryMs ?? 30_000
    this.#json = options.json ?? exactJson
    this.#fetch = options.fetch ?? globalThis.fetch.bind(globalThis)
  }

  /**
   * An event that the service sent.
   *
   * @param fields what it must have
   * @throws ToolyardError for what no service of Toolyard sends.
   */
  read<T> (text: string, fields: Fields<T>): T {
    const event = this.#parse(text)
    if (!record(fields)(event)) throw new ToolyardError('BAD_ANSWER', `What sent this event isn't Toolyard: ${text.slice(0, 200)}`)
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- As far as it is read, it was looked at.
    return event as T
  }

  /** @throws ToolyardError; the signal's reason; TypeError for a body that can't be written as JSON. */
  async send<T> (request: ApiRequest, fields: Fields<T>): Promise<T> {
    const sent = this.#written(request)
    return await this.#tried(sent, async () => await this.#once<T>(sent, record(fields)))
  }

  /**
   * Makes something so, such as removed. A repeat that is answered with `found` finds what a try did whose answer was lost.
   *
   * @throws ToolyardError; the signal's reason.
   */
  async change<T> (request: Omit<ApiRequest, 'body'>, fields: Fields<T>, found: ErrorCode): Promise<void> {
    let mayBeDone = false
    await this.#tried(request, async () => {
      try {
        await this.#once(request, record(fields))
      } catch (error) {
        const code = error instanceof ToolyardError ? error.code : undefined
        if (mayBeDone && code === found) return
        mayBeDone ||= code !== 'RATE_LIMITED'
        throw error
      }
    })
  }

  /** The answer when it has begun; who asks reads its body. @throws ToolyardError; the signal's reason. */
  async fetch (asked: ApiRequest): Promise<Response> {
    const request = this.#written(asked)
    return await this.#tried(request, async () => {
      const response = await this.#open(request, { signal: request.signal }, '*/*')
      if (response.ok) return response
      const text = await response.text()
      throw errorOf(response, this.#parse(text), text)
    })
  }

  /** Written once, and before anything is tried: what can't be written now can't be later. */
  #written ({ body, ...request }: ApiRequest): WrittenRequest {
    return body === undefined ? request : { ...request, json: this.#json.stringify(body) }
  }

  #parse (text: string, { parse }: Pick<ApiRequest, 'parse'> = {}): unknown {
    try {
      // `json` may be of a class.
      const value = parse === undefined ? this.#json.parse(text) : parse(text)
      return typeof value === 'object' && value !== null ? value : undefined
    } catch {
      return undefined
    }
  }

  async #tried<T> ({ file, signal }: WrittenRequest, once: () => Promise<T>): Promise<T> {
    const backoff = new Backoff(this.#retryMs)
    for (;;) {
      try {
        return await once()
      } catch (error) {
        const failure = this.#failureOf(error, signal)
        if (file instanceof ReadableStream) throw failure
        await backoff.wait(failure, signal)
      }
    }
  }

  /**
   * Reads a stream of events, and opens it again after its last id when it breaks off; the caller leaves it when the
   * last event has come.
   *
   * @throws ToolyardError; the signal's reason.
   */
  async * events (path: string, signal: AbortSignal | undefined, lastId = ''): AsyncGenerator<ServerEvent> {
    const backoff = new Backoff(this.#retryMs)
    for (;;) {
      try {
        for await (const event of this.#stream({ method: 'GET', path, headers: lastId === '' ? {} : { 'last-event-id': lastId }, signal })) {
          backoff.restored()
          if (event.id !== undefined) lastId = event.id
          yield event
        }
        throw new ToolyardError('UNREACHABLE', 'The event stream ended before its job did')
      } catch (error) {
        await backoff.wait(this.#failureOf(error, signal), signal)
      }
    }
  }

  async #once<T> (request: WrittenRequest, isAnswer: Shape): Promise<T> {
    const exchange = new Exchange(request.signal, (request.answerMs ?? 0) + silenceMs)
    try {
      const response = await this.#open(request, exchange, 'application/json')
      const text = await response.text()
      const body = response.status === 204 ? {} : this.#parse(text, request)
      // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- As far as it is read, it was looked at.
      if (response.ok && isAnswer(body)) return body as T
      throw errorOf(response, body, text)
    } finally {
      exchange.close()
    }
  }

  async * #stream (request: WrittenRequest): AsyncGenerator<ServerEvent> {
    const exchange = new Exchange(request.signal, silenceMs)
    try {
      const response = await this.#open(request, exchange, 'text/event-stream')
      if (!response.ok || response.body === null || response.headers.get('content-type')?.startsWith('text/event-stream') !== true) {
        const text = await response.text()
        throw errorOf(response, this.#parse(text), text)
      }
      yield * readEvents(response.body, () => { exchange.heard() })
    } finally {
      exchange.close()
    }
  }

  async #open (
    { method, path, query = {}, json, file, headers }: WrittenRequest, { signal }: { signal: AbortSignal | undefined }, accept: string
  ): Promise<Response> {
    const given = Object.entries(query).flatMap(([name, value]) => value === undefined ? [] : [[name, String(value)] as [string, string]])
    const search = given.length === 0 ? '' : `?${String(new URLSearchParams(given))}`
    return await this.#fetch(`${this.#url}${path}${search}`, {
      method,
      // The key would go wherever the answer leads.
      redirect: 'manual',
      ...(signal === undefined ? {} : { signal }),
      headers: {
        accept,
        ...(this.#apiKey === undefined || this.#apiKey === '' ? {} : { 'x-api-key': this.#apiKey }),
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers
      },
      ...(json === undefined ? {} : { body: json }),
      ...(file === undefined ? {} : { body: file }),
      ...(file instanceof ReadableStream ? { duplex: 'half' as const } : {})
    })
  }

  /** No answer came: the connection failed or broke off. @throws the signal's reason. */
  #failureOf (error: unknown, signal: AbortSignal | undefined): ToolyardError {
    signal?.throwIfAborted()
    if (error instanceof ToolyardError) return error
    const { message, cause } = error instanceof Error ? error : new Error(String(error))
    const reason = cause instanceof Error && cause.message !== '' ? cause.message : message
    return new ToolyardError('UNREACHABLE', `Toolyard can't be reached${this.#url === '' ? '' : ` at ${this.#url}`}: ${reason}`, { cause: error })
  }
}

interface FailureBody { error?: { code?: unknown, message?: unknown, details?: unknown } | null, request_id?: string }

function errorOf ({ status, headers, type }: Response, body: unknown, text: string): ToolyardError {
  const { error, request_id: requestId } = (body ?? {}) as FailureBody
  const seconds = headers.get('retry-after') ?? ''
  const facts = {
    status,
    details: error?.details,
    requestId: requestId ?? headers.get('x-request-id') ?? undefined,
    retryAfterMs: /^\d+$/.test(seconds) ? Number(seconds) * 1000 : undefined
  }
  // A browser says of a redirect only that it is one.
  if (type === 'opaqueredirect' || (status >= 300 && status < 400)) return new ToolyardError('BAD_ANSWER', `What answered leads elsewhere${headers.has('location') ? `, to ${headers.get('location') ?? ''}` : ''}: give the client the address of Toolyard itself`, facts)
  const { code, message } = error ?? {}
  return typeof code === 'string'
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- A later service may have others.
    ? new ToolyardError(code as ErrorCode, typeof message === 'string' ? message : code, facts)
    : new ToolyardError(status >= 502 && status <= 504 ? 'UNAVAILABLE' : 'BAD_ANSWER', `What answered with status ${status} isn't Toolyard: ${text.slice(0, 200)}`, facts)
}

/** Of Node, Bun and Deno; a browser has none. */
function setting (name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } }
  const value = process?.env?.[name]
  return value === '' ? undefined : value
}
