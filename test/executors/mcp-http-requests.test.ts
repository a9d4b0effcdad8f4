import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { mcpDigest } from '@toolyard/contract/mcp-digest'
import type { McpTool } from '@toolyard/contract/terms'
import type { Executors, Outcome } from '@toolyard/executors'
import type { McpServer } from '@toolyard/manifests'
import { waitFor } from '../support/condition.ts'
import { listening } from '../support/listening.ts'
import { openExecutors, testTool } from '../support/tool.ts'

/*
 * Each request that a server leaves open is a connection of the worker. A call may end by its time, or by its answer; its request has
 * to end with it.
 */

t.setTimeout(120_000)

const described: McpTool = { name: 'probe', description: 'Says what it is given.', inputSchema: { type: 'object', properties: {} } }
const source = { format: 'agentcli', file: '/manifest/tools.json', index: 0 } as const
const events = { 'content-type': 'text/event-stream' }
const json = { 'content-type': 'application/json' }

interface Answers {
  call: (response: ServerResponse, id: number) => void
  /** For a client that opens a stream for what it didn't ask for; 405 when absent. */
  stream?: (response: ServerResponse) => void
  /** For an answer of the client; 202 when absent. */
  answer?: (response: ServerResponse) => void

  /** Answers a request for the list of tools. */
  list?: (answer: () => void) => void
}

interface Served {
  executors: Executors
  run: (timeoutMs?: number) => Promise<Outcome>
  /** How many requests of a kind came, and how many of them are open. */
  of: (kind: string) => { came: number, open: number }
}

async function serve (t: Test, { call, stream, answer, list }: Answers): Promise<Served> {
  const kinds = new Map<string, { came: number, open: number }>()
  const of = (kind: string): { came: number, open: number } => {
    const found = kinds.get(kind) ?? { came: 0, open: 0 }
    kinds.set(kind, found)
    return found
  }
  const take = (request: IncomingMessage, response: ServerResponse, text: string): void => {
    const { id, method } = (text === '' ? {} : JSON.parse(text)) as { id?: number, method?: string }
    const count = of(method ?? (request.method === 'GET' ? 'stream' : 'answer'))
    count.came += 1
    count.open += 1
    response.once('close', () => { count.open -= 1 })
    if (request.method === 'GET' && stream !== undefined) return stream(response)
    if (method === undefined && id !== undefined && answer !== undefined) return answer(response)
    if (method === 'tools/call' && id !== undefined) return call(response, id)
    if (method === undefined || id === undefined) return void response.writeHead(request.method === 'POST' ? 202 : 405).end()
    const results: Record<string, object> = {
      initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'open', version: '1' } },
      'tools/list': { tools: [described] }
    }
    const said = results[method] === undefined ? { error: { code: -32_601, message: 'no such method' } } : { result: results[method] }
    const tell = (): void => { response.writeHead(200, json).end(JSON.stringify({ jsonrpc: '2.0', id, ...said })) }
    if (method === 'tools/list' && list !== undefined) list(tell)
    else tell()
  }
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (chunk: string) => { text += chunk }).on('end', () => { take(request, response, text) })
  })
  t.teardown(() => { server.closeAllConnections() })
  const url = `http://127.0.0.1:${await listening(t, server)}/mcp`
  const executors = openExecutors(t)
  const far: McpServer = { name: 'far', connection: { kind: 'http', url, headers: {} }, prefix: 'far_', filter: [], source, lock: '/manifest/tools.lock.json' }
  const tool = testTool({ kind: 'mcp', server: far, remote: 'probe', digest: mcpDigest(described) })
  return {
    executors,
    of,
    run: async (timeoutMs = 60_000) => await executors.run(tool, {}, { jobId: 'job-1', timeoutMs, signal: new AbortController().signal, log: () => {} })
  }
}

const resultOf = (id: number): string => JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'said' }] } })

const hanging: Record<string, Answers['call']> = {
  'never answers': () => {},
  'begins a stream and says nothing': response => { response.writeHead(200, events).write(': here\n\n') },
  'refuses it in a body without end': response => { response.writeHead(400, json).write('{') },
  'ends each stream of it, and names an event to go on behind': response => { response.writeHead(200, events).end('id: 1\nretry: 1\n\n') }
}
for (const [what, call] of Object.entries(hanging)) {
  t.test(`promise 6: calls that timed out leave no request open at a server that ${what}`, async t => {
    const { run, of } = await serve(t, { call, stream: response => { response.writeHead(200, events).write('retry: 1\n\n') } })
    await waitFor('a call came to the server', async () => {
      await run(1_000)
      return of('tools/call').came > 0
    })
    const outcomes = await Promise.all(Array.from({ length: 5 }, async () => await run(1_000)))
    t.ok(outcomes.every(({ ok }) => !ok))
    await waitFor('the requests of the calls have ended', () => of('tools/call').open === 0 && of('stream').open <= 1)
  })
}

t.test('promise 6: an answer that leaves its stream open leaves no request open', async t => {
  const { run, of } = await serve(t, { call: (response, id) => { response.writeHead(200, events).write(`data: ${resultOf(id)}\n\n`) } })
  const outcomes = await Promise.all(Array.from({ length: 5 }, async () => await run()))
  t.ok(outcomes.every(({ ok }) => ok))
  await waitFor('the requests of the calls have ended', () => of('tools/call').open === 0)
})

t.test('promise 6: a call that is accepted with a body without end leaves no request open', async t => {
  const { run, of } = await serve(t, { call: response => { response.writeHead(202, json).write('{') } })
  t.match(await run(), { ok: false, error: { code: 'TOOL_FAILED' } })
  await waitFor('the request of the call has ended', () => of('tools/call').open === 0)
})

t.test('promise 6: a server that asks and asks, and takes no answer, is ended', async t => {
  const { run, of } = await serve(t, {
    call: () => {},
    answer: () => {},
    stream: response => {
      const ask = (at: number): string => `data: ${JSON.stringify({ jsonrpc: '2.0', id: `ask-${at}`, method: 'ping' })}\n\n`
      response.writeHead(200, events).write(Array.from({ length: 500 }, (_, at) => ask(at)).join(''))
    }
  })
  t.match(await run(), { ok: false, error: { code: 'TOOL_FAILED', message: /does not read what it is sent/ } })
  t.ok(of('answer').came <= 65, `${of('answer').came} answers`)
  await waitFor('all requests have ended', () => of('answer').open + of('tools/call').open + of('stream').open === 0)
})

t.test('promise 6: a stream that ends at once is opened again twice a second at most, whatever the server asks for', async t => {
  for (const retry of ['0', '99999999999']) {
    const { run, of } = await serve(t, { call: () => {}, stream: response => { response.writeHead(200, events).end(`retry: ${retry}\n\n`) } })
    await run(2_000)
    t.ok(of('stream').came <= 5, `${of('stream').came} streams`)
  }
})

t.test('promise 6: a server whose tools change all the time is asked for one list at a time', async t => {
  let most = 0
  const { run, of } = await serve(t, {
    call: (response, id) => { response.writeHead(200, json).end(resultOf(id)) },
    list (answer) {
      most = Math.max(most, of('tools/list').open)
      setTimeout(answer, 100)
    },
    stream (response) {
      response.writeHead(200, events)
      const timer = setInterval(() => { response.write('data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n') }, 10)
      response.once('close', () => { clearInterval(timer) })
    }
  })
  t.match(await run(), { ok: true })
  const outcomes = await Promise.all(Array.from({ length: 10 }, async (_, at) => {
    await sleep(at * 20)
    return await run()
  }))
  t.ok(outcomes.every(({ ok }) => ok))
  t.equal(most, 1)
})
