import { openConnections } from '@toolyard/runtime/connections'
import { readBounded, startTimeLimit } from '@toolyard/runtime/outgoing'
import { isShortage } from '@toolyard/sandbox'
import { request } from 'undici'
import { steadyMs, type Threads } from '@toolyard/runtime/threads'
import { integerArgument, textArgument } from '../kit/arguments.ts'
import { BuiltinFailure, ownerOfBuiltin, type BuiltinContext, type BuiltinHandler } from '../kit/handler.ts'
import { runInThread } from '../kit/run-thread.ts'
import { decodedBody, EncodingError } from '../../http/answer/decoded-body.ts'
import { createBrave } from './search/brave.ts'
import { createDuckDuckGo } from './search/duckduckgo.ts'
import type { SearchProvider, WebResult } from './search/provider.ts'
import { createSearxng } from './search/searxng.ts'
import { resultsOf, shortPage, type ResultsTask, type SearchProviderName } from './web-task.ts'

export type { SearchProviderName }

/** Which search services there are; their keys and addresses come only from the operator. */
export interface WebSearchPolicy {
  /** The one that is asked unless a call names another. */
  provider: SearchProviderName
  braveKey?: string
  searxngUrl?: string
  /** Other addresses than the public ones. */
  endpoints?: { duckduckgo?: string, brave?: string }
}

const maxResults = { min: 1, max: 20, default: 8 }
const timeoutMs = 20_000
const maxBytes = 2_097_152
const userAgent = 'Mozilla/5.0 (compatible; Toolyard/0.1; tools_web_search)'

/**
 * Makes `tools.web_search`: asks a search service. Returns `{ok, query, provider, result_count, results: [{title,
 * url, snippet}]}`.
 *
 * @throws BuiltinFailure `query is required`; for a provider that isn't configured; for an answer that isn't one.
 */
export function createSearchWeb (policy: WebSearchPolicy, threads: Threads): BuiltinHandler {
  const providers = createProviders(policy)
  return async (args, context) => {
    const query = textArgument(args['query'])
    if (query === '') throw new BuiltinFailure('query is required')
    const wanted = textArgument(args['provider']) || policy.provider
    const [name, provider] = [...providers].find(([each]) => each === wanted) ?? []
    if (name === undefined || provider === undefined) throw new BuiltinFailure(`provider '${wanted}' is not configured (there is: ${[...providers.keys()].join(', ')})`)
    const count = integerArgument(args['max_results'], maxResults)
    const body = await ask(provider, { query, count, name }, context)
    const results = (await readResults({ body, name }, context, threads)).slice(0, count)
    return { ok: true, query, provider: name, result_count: results.length, results }
  }
}

function createProviders ({ braveKey, searxngUrl, endpoints = {} }: WebSearchPolicy): Map<SearchProviderName, SearchProvider> {
  const providers = new Map<SearchProviderName, SearchProvider>([['duckduckgo', createDuckDuckGo(endpoints.duckduckgo ?? 'https://html.duckduckgo.com/html/')]])
  if (braveKey !== undefined) providers.set('brave', createBrave(endpoints.brave ?? 'https://api.search.brave.com/res/v1/web/search', braveKey))
  if (searxngUrl !== undefined) providers.set('searxng', createSearxng(searxngUrl))
  return providers
}

async function ask (
  provider: SearchProvider, { query, count, name }: { query: string, count: number, name: string }, context: BuiltinContext
): Promise<Uint8Array> {
  const { url, headers } = provider.request(query, count)
  // Its address is the operator's.
  const connections = openConnections({ allowPrivate: true })
  const limit = startTimeLimit(Math.min(timeoutMs, context.timeoutMs), context.signal)
  try {
    // Redirects aren't followed: a key must not travel on.
    const response = await request(url, { headers: { 'user-agent': userAgent, 'accept-encoding': 'identity', ...headers }, dispatcher: connections.dispatcher, signal: limit.signal })
    if (response.statusCode !== 200) throw new BuiltinFailure(`${name} answered with status ${response.statusCode}`)
    const { bytes, truncated } = await readBounded(decodedBody(response.body, String(response.headers['content-encoding'] ?? '')), maxBytes)
    if (truncated) throw new BuiltinFailure(`${name} answered with more than ${maxBytes} bytes`)
    return bytes
  } catch (error) {
    if (error instanceof BuiltinFailure || context.signal.aborted || isShortage(error)) throw error
    if (error instanceof EncodingError) throw new BuiltinFailure(error.message)
    throw new BuiltinFailure(limit.passed ? `${name} did not answer in time` : `${name} could not be reached`)
  } finally {
    limit.clear()
    await connections.close()
  }
}

async function readResults (task: ResultsTask, context: BuiltinContext, threads: Threads): Promise<WebResult[]> {
  if (task.body.length <= shortPage) return resultsOf(task)
  const options = { until: steadyMs() + timeoutMs, owner: ownerOfBuiltin(context), signal: context.signal }
  return await runInThread(threads, { kind: 'results', task }, options, {
    time: `the answer of ${task.name} takes too long to read`,
    memory: `the answer of ${task.name} needs too much memory`
  })
}
