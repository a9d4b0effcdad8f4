import type { ApprovalDetail, CallResult, InvokeBatchResponse, SessionView } from '@toolyard/contract'

/** An answer as it came, and its body as JSON. */
export interface Answer<T = Record<string, unknown>> {
  status: number
  headers: Headers
  text: string
  body: T
}

/** A body as a test sends it; a string is sent as it is. */
export interface RequestOptions {
  method?: string
  key?: string | null
  headers?: Record<string, string>
  body?: unknown
  signal?: AbortSignal
}

/** A call of a batch; `arguments` may be left out. */
export interface TestCall {
  call_id: string
  name: string
  arguments?: unknown
}

/** An HTTP client of a service under test. */
export interface Client {
  request: <T = Record<string, unknown>>(path: string, options?: RequestOptions) => Promise<Answer<T>>
  /** Posts a batch and expects a 200. */
  batch: (calls: TestCall[], rest?: Record<string, unknown>, key?: string) => Promise<InvokeBatchResponse>
  call: (name: string, args?: unknown, rest?: Record<string, unknown>, key?: string) => Promise<CallResult>
  /** Makes a session. @returns its ID */
  session: (key?: string, body?: object) => Promise<string>
  /** A held call as its approvers see it. */
  held: (id: string, key?: string) => Promise<ApprovalDetail>
  /** Decides about a held call, by the digest that was shown unless `rest` has another. */
  decide: (held: Pick<ApprovalDetail, 'job_id' | 'approval'>, decision: string, rest?: Decided) => Promise<Answer<{ approval: ApprovalDetail }>>
}

interface Decided { key?: string, digest?: string, reason?: string }

/** Sends a request to a path as `fetch` sends one to an address. */
export type Send = (path: string, init: RequestInit & { headers: Record<string, string>, body?: string }) => Promise<Response>

/** "fetch failed" alone doesn't tell why. */
function fetchFrom (address: string): Send {
  return async (path, init) => await fetch(address + path, init).catch((error: unknown) => {
    if (error instanceof TypeError) error.message += `: ${init.method} ${path}: ${String(error.cause)}`
    throw error
  })
}

/**
 * Makes a client that sends `key` unless a request says otherwise.
 *
 * @param to an address, or what sends its requests.
 */
export function createClient (to: string | Send, key: string): Client {
  const send = typeof to === 'string' ? fetchFrom(to) : to
  const request: Client['request'] = async (path, options = {}) => {
    const hasBody = options.body !== undefined
    const response = await send(path, {
      method: options.method ?? (hasBody ? 'POST' : 'GET'),
      headers: {
        ...(options.key === null ? {} : { 'x-api-key': options.key ?? key }),
        ...(hasBody ? { 'content-type': 'application/json' } : {}),
        ...options.headers
      },
      ...(hasBody ? { body: typeof options.body === 'string' ? options.body : JSON.stringify(options.body) } : {}),
      ...(options.signal === undefined ? {} : { signal: options.signal })
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, body: (response.headers.get('content-type')?.includes('json') === true ? JSON.parse(text) : {}) as never }
  }
  const batch: Client['batch'] = async (calls, rest = {}, otherKey = key) => {
    const answer = await request<InvokeBatchResponse>('/v1/agent-tools/invoke-batch', { key: otherKey, body: { calls, ...rest } })
    if (answer.status !== 200) throw new Error(`invoke-batch answered ${answer.status}: ${answer.text}`)
    return answer.body
  }
  const call: Client['call'] = async (name, args = {}, rest = {}, otherKey = key) => {
    const { results: [result] } = await batch([{ call_id: 'c1', name, arguments: args }], rest, otherKey)
    if (result === undefined) throw new Error('invoke-batch gave no result')
    return result
  }
  return {
    request,
    batch,
    call,
    session: async (otherKey = key, body = {}) => (await request<{ session: SessionView }>('/v1/sessions', { body, key: otherKey })).body.session.id,
    held: async (id, otherKey = key) => (await request<{ approval: ApprovalDetail }>(`/v1/approvals/${id}`, { key: otherKey })).body.approval,
    decide: async ({ job_id: id, approval: { digest } }, decision, { key: otherKey = key, ...rest } = {}) => (
      await request(`/v1/approvals/${id}`, { body: { decision, digest, ...rest }, key: otherKey })
    )
  }
}
