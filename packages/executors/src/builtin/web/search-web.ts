import { startTimeLimit } from '@toolyard/runtime/outgoing'
import { Agent, request } from 'undici'
import { integerArgument, textArgument } from '../arguments.ts'
import { BuiltinFailure, type BuiltinContext, type BuiltinHandler } from '../handler.ts'
import { readBounded } from './bounded-body.ts'
import { decodedBody } from './decoded-body.ts'
import { createBrave } from './search/brave.ts'
import { createDuckDuckGo } from './search/duckduckgo.ts'
import type { SearchProvider } from './search/provider.ts'
import { createSearxng } from './search/searxng.ts'

export type SearchProviderName = 'duckduckgo' | 'brave' | 'searxng'

/** Which search services there are; their keys and addresses come from the operator alone. */
export interface WebSearchPolicy {
  /** The one that is asked unless a call names another. */
  provider: SearchProviderName
  braveKey?: string
  /** Base address of a SearXNG server. */
  searxngUrl?: string
  /** Other addresses than the public ones. */
  endpoints?: { duckduckgo?: string, brave?: string }
}

const maxResults = { min: 1, max: 20, default: 8 }
const timeoutMs = 20_000
const maxBytes = 2_097_152
const userAgent = 'Mozilla/5.0 (compatible; Toolyard/0.1; tools_web_search)'

/**
 * Makes `tools.web_search` (RC42): asks a search service. Returns `{ok, query, provider, result_count, results: [{title,
 * url, snippet}]}`.
 *
 * @throws BuiltinFailure `query is required`; for a provider that isn't configured; for an answer that isn't one.
 */
export function createSearchWeb (policy: WebSearchPolicy): BuiltinHandler {
  const providers = createProviders(policy)
  return async (args, context) => {
    const query = textArgument(args['query'])
    if (query === '') throw new BuiltinFailure('query is required')
    const name = textArgument(args['provider']) || policy.provider
    const provider = providers.get(name)
    if (provider === undefined) throw new BuiltinFailure(`provider '${name}' is not configured (there is: ${[...providers.keys()].join(', ')})`)
    const count = integerArgument(args['max_results'], maxResults)
    const body = await ask(provider, { query, count, name }, context)
    const results = readResults(provider, body, name).slice(0, count)
    return { ok: true, query, provider: name, result_count: results.length, results }
  }
}

function createProviders ({ braveKey, searxngUrl, endpoints = {} }: WebSearchPolicy): Map<string, SearchProvider> {
  const providers = new Map<string, SearchProvider>([['duckduckgo', createDuckDuckGo(endpoints.duckduckgo ?? 'https://html.duckduckgo.com/html/')]])
  if (braveKey !== undefined) providers.set('brave', createBrave(endpoints.brave ?? 'https://api.search.brave.com/res/v1/web/search', braveKey))
  if (searxngUrl !== undefined) providers.set('searxng', createSearxng(searxngUrl))
  return providers
}

async function ask (provider: SearchProvider, { query, count, name }: { query: string, count: number, name: string }, context: BuiltinContext): Promise<string> {
  const { url, headers } = provider.request(query, count)
  const agent = new Agent()
  const limit = startTimeLimit(Math.min(timeoutMs, context.timeoutMs), context.signal)
  try {
    // Redirects aren't followed: a key must not travel on.
    const response = await request(url, { headers: { 'user-agent': userAgent, 'accept-encoding': 'identity', ...headers }, dispatcher: agent, signal: limit.signal })
    if (response.statusCode !== 200) throw new BuiltinFailure(`${name} answered with status ${response.statusCode}`)
    const { bytes, truncated } = await readBounded(decodedBody(response.body, String(response.headers['content-encoding'] ?? '')), maxBytes)
    if (truncated) throw new BuiltinFailure(`${name} answered with more than ${maxBytes} bytes`)
    return bytes.toString('utf8')
  } catch (error) {
    if (error instanceof BuiltinFailure || context.signal.aborted) throw error
    throw new BuiltinFailure(limit.passed ? `${name} did not answer in time` : `${name} could not be reached`)
  } finally {
    limit.clear()
    await agent.destroy()
  }
}

function readResults (provider: SearchProvider, body: string, name: string): ReturnType<SearchProvider['results']> {
  try {
    return provider.results(body)
  } catch {
    throw new BuiltinFailure(`${name} answered with something that is no list of results`)
  }
}
