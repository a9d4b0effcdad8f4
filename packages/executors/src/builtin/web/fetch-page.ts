import { openConnections, type ConnectionOptions, type Connections } from '@toolyard/runtime/connections'
import { AddressRefusedError, isListedHost, plainHost, readBounded, startTimeLimit, type BoundedBody, type TimeLimit } from '@toolyard/runtime/outgoing'
import { isShortage } from '@toolyard/sandbox'
import { request } from 'undici'
import { errorCode, thrownAs } from '@toolyard/contract/terms'
import { integerArgument, textArgument } from '../kit/arguments.ts'
import { BuiltinFailure, ownerOfBuiltin, JsonText, type BuiltinContext, type BuiltinHandler } from '../kit/handler.ts'
import { runInThread } from '../kit/run-thread.ts'
import { bufferOf, movable, steadyMs, type Threads } from '@toolyard/runtime/threads'
import { decodedBody, EncodingError } from '../../http/answer/decoded-body.ts'
import { header, redirectTarget } from '../../http/answer/response-head.ts'
import { pageAnswer, shortPage, type PageTask } from './web-task.ts'

interface UrlPolicy {
  /** Host names; each includes its subdomains, and `*` means all. */
  allowlist: readonly string[]
  allowHttp: boolean
}

export interface FetchPolicy extends ConnectionOptions, UrlPolicy {}

const timeoutMs = { min: 100, max: 60_000, default: 20_000 }
const maxBytes = { min: 512, max: 2_097_152, default: 262_144 }
const maxRedirects = 5
const headers = { 'user-agent': 'Toolyard/0.1 (data_fetch)', accept: 'text/html, application/json, text/*;q=0.9, */*;q=0.5', 'accept-encoding': 'identity' }

/**
 * Makes `data.fetch`: reads a page by GET, over https unless the policy says otherwise, from hosts of the
 * allowlist, checked again at each redirect, and never from a private address. At most `max_bytes` of the body are read, and
 * of what it is decoded to. HTML becomes text unless `raw`; JSON is parsed. Returns `{ok, status, url, content_type, body_text, body_json,
 * truncated, bytes_read, duration_ms}`; `ok` is whether the status is 2xx, `url` where redirects led, `body_json` null
 * for anything but whole JSON.
 */
export function createFetchPage (policy: FetchPolicy, threads: Threads): BuiltinHandler {
  return async (args, context) => {
    const begun = performance.now()
    const url = allowedUrl(textArgument(args['url']), policy)
    const ms = Math.min(integerArgument(args['timeout_ms'], timeoutMs), context.timeoutMs)
    const connections = openConnections(policy)
    const limit = startTimeLimit(ms, context.signal)
    try {
      const page = await follow(url, { policy, connections, signal: limit.signal, maxBytes: integerArgument(args['max_bytes'], maxBytes) })
      const task = { ...page, url: page.url.href, raw: args['raw'] === true, durationMs: Math.round(performance.now() - begun) }
      return await readPage(task, { signal: limit.signal, until: steadyMs() + ms, owner: ownerOfBuiltin(context) }, threads)
    } catch (error) {
      throw fetchFailure(error, context, limit, ms)
    } finally {
      limit.clear()
      await connections.close()
    }
  }
}

interface Fetching {
  policy: FetchPolicy
  connections: Connections
  signal: AbortSignal
  maxBytes: number
}

interface Page extends BoundedBody {
  url: URL
  status: number
  contentType: string
}

async function follow (start: URL, fetching: Fetching): Promise<Page> {
  let url = start
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    fetching.connections.checkHost(url.hostname)
    const response = await request(url, { method: 'GET', headers, dispatcher: fetching.connections.dispatcher, signal: fetching.signal })
    const target = redirectTarget(response)
    if (target === undefined) {
      const body = await readBounded(decodedBody(response.body, header(response, 'content-encoding')), fetching.maxBytes)
      return { ...body, url, status: response.statusCode, contentType: header(response, 'content-type') }
    }
    response.body.on('error', () => {}).destroy()
    url = allowedUrl(new URL(target, url).href, fetching.policy)
  }
  throw new BuiltinFailure(`more than ${maxRedirects} redirects: name the address that they lead to`)
}

/** A large page is read in a thread, which also writes the answer: it may be larger than the page. */
async function readPage (
  task: PageTask, { signal, until, owner }: { signal: AbortSignal, until: number, owner: string }, threads: Threads
): Promise<unknown> {
  if (task.bytes.length <= shortPage) return pageAnswer(task)
  const json = await runInThread<Uint8Array>(threads, { kind: 'page', task }, { until, owner, signal, move: movable(task.bytes) }, {
    time: 'the page takes too long to read',
    memory: 'the page needs too much memory to read'
  })
  return new JsonText(bufferOf(json))
}

/** Says what happened without repeating the request's headers or addresses. */
function fetchFailure (error: unknown, context: BuiltinContext, limit: TimeLimit, ms: number): unknown {
  if (error instanceof BuiltinFailure || context.signal.aborted) return error
  if (error instanceof EncodingError) return new BuiltinFailure(error.message)
  const refusal = thrownAs(error, AddressRefusedError)
  if (refusal !== undefined) return new BuiltinFailure(refusal.message, 'NOT_ALLOWED')
  if (limit.passed) return new BuiltinFailure(`data.fetch timeout after ${ms}ms`)
  const code = errorCode(error)
  return code === undefined || isShortage(error) ? error : new BuiltinFailure(`data.fetch failed: ${code}`)
}

/**
 * A URL that may be fetched.
 *
 * @throws BuiltinFailure `url is required`, `url must be valid absolute URL`, `only https:// URLs are allowed` or
 * `domain not allowlisted: H`.
 */
function allowedUrl (text: string, { allowlist, allowHttp }: UrlPolicy): URL {
  if (text === '') throw new BuiltinFailure('url is required')
  if (!URL.canParse(text)) throw new BuiltinFailure('url must be valid absolute URL')
  const url = new URL(text)
  if (url.protocol !== 'https:' && !(allowHttp && url.protocol === 'http:')) {
    throw new BuiltinFailure(allowHttp ? 'only https:// and http:// URLs are allowed' : 'only https:// URLs are allowed', 'NOT_ALLOWED')
  }
  if (url.username !== '' || url.password !== '') throw new BuiltinFailure('url must not hold a user name or password')
  if (!isListedHost(allowlist, url.hostname)) throw new BuiltinFailure(`domain not allowlisted: ${plainHost(url.hostname)}`, 'NOT_ALLOWED')
  return url
}
