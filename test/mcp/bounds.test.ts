import fc from 'fast-check'
import t from 'tap'
import { entries, programs } from '../e2e/tools.ts'
import { waitFor } from '../support/condition.ts'
import { createService, makeKeys, testKeys } from '../support/service.ts'
import { eras, meta, post, rpc, type RpcAnswer } from './clients.ts'

const { API_KEYS_JSON } = makeKeys({ read: {}, limited: { name: 'plain', sse: false } })
const most = 1_048_576
const { api } = await createService(t, {
  files: {
    ...programs,
    'skills/large/SKILL.md': '---\nname: large\ndescription: Has large files\n---\nUse it well.\n',
    'skills/large/most.txt': 'x'.repeat(most),
    'skills/large/more.txt': 'x'.repeat(most + 1)
  },
  tools: [...entries, {
    name: 'note',
    schema: { type: 'object', properties: { of: { type: 'string' } }, required: ['of'] },
    command: ['./tools/bin/echo'],
    publishAs: { uri: 'note:{of}' }
  }],
  manifests: ['skills', 'tools.json'],
  env: { API_KEYS_JSON }
})
const url = `${api.address}/mcp`
const uri = (file: string): string => `skill://large/${file}.txt`
const request = (method: string, params: object = {}, id: unknown = 1): object => ({ jsonrpc: '2.0', id, method, params })

for (const era of eras) {
  t.test(`a client of ${era} reads a file of a skill of 1 MiB; of a larger one it is told what to do`, async t => {
    const read = async (file: string): Promise<RpcAnswer['body']> => (era === '2026-07-28'
      ? await rpc(api.address, 'resources/read', { uri: uri(file) }, { key: testKeys.read })
      : await post(url, request('resources/read', { uri: uri(file) }), { 'x-api-key': testKeys.read, 'mcp-protocol-version': era })).body
    t.match((await read('most')).result, { contents: [{ mimeType: 'text/plain', text: /^x+$/ }] })
    t.match((await read('more')).error, { code: -32_602, message: /has 1048577 bytes, and a resource at most 1048576\. Split the file/ })
  })
}

t.test('a session watches URIs of 2 KiB, and of 32 KiB together; those that come at the same moment are all kept', async t => {
  const initialize = request('initialize', { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'raw', version: '1' } })
  const begun = await post(url, initialize, { 'x-api-key': testKeys.read })
  const headers = { 'x-api-key': testKeys.read, 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' }
  const subscribe = (of: string, id = 1): object => request('resources/subscribe', { uri: `note:${of}` }, id)
  const long = await post(url, subscribe('x'.repeat(2_044)), headers)
  t.match(long.body, { error: { code: -32_602, message: /has 2049 bytes, and one that is watched at most 2048/ } })
  const answers = await Promise.all(Array.from({ length: 17 }, async (_, id) => (await post(url, subscribe(String(id).padStart(2_043, '0'), id), headers)).body))
  t.equal(answers.filter(({ result }) => result !== undefined).length, 16)
  const refused = answers.find(({ error }) => error !== undefined)
  t.match(refused?.error, { code: -32_602, message: /at most 100 resources, whose URIs have at most 32768 bytes/ })
})

t.test('a stream of 2026 watches as much as a session of 2025', async t => {
  const listen = async (resourceSubscriptions: unknown): Promise<RpcAnswer> => {
    const gone = new AbortController()
    const answering = rpc(api.address, 'subscriptions/listen', { notifications: { resourceSubscriptions } }, { key: testKeys.read, signal: gone.signal })
    setTimeout(() => { gone.abort() }, 3_000).unref()
    return await answering
  }
  const uris = (count: number, size: number): string[] => Array.from({ length: count }, (_, at) => `note:${String(at).padStart(size - 5, '0')}`)
  for (const watched of [uris(101, 10), uris(24_000, 10), uris(1, 2_049), uris(17, 2_048)]) {
    t.match(await listen(watched), { status: 400, body: { error: { message: /at most 100 resources, whose URIs have at most 2048 bytes each and 32768 together|at most 1000 values/ } } })
  }
  for (const watched of [uris(100, 300), uris(16, 2_048)]) await t.rejects(listen(watched), { name: 'AbortError' }, 'its stream stays open')
})

t.test('what a message holds beside the arguments of a tool is bounded before anything reads it, wherever it stands', async t => {
  const place = fc.oneof(
    fc.constantFrom('id', 'method', 'result', 'error', 'other').map(name => (value: unknown): object => ({ method: 'ping', [name]: value })),
    fc.tuple(
      fc.constantFrom('initialize', 'ping', 'tools/list', 'tools/call', 'prompts/get', 'resources/read', 'resources/subscribe', 'completion/complete', 'logging/setLevel', 'tasks/update', 'subscriptions/listen', 'notifications/cancelled', 'notifications/initialized', 'elicitation/create', 'no/such'),
      fc.array(fc.constantFrom('_meta', 'cursor', 'uri', 'ref', 'argument', 'context', 'capabilities', 'experimental', 'clientInfo', 'notifications', 'inputResponses', 'requestId', 'name', 'level', 'a'), { minLength: 1, maxLength: 5 })
    ).map(([method, path]) => (value: unknown): object => (
      { method, params: path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) }
    ))
  )
  const large = fc.constantFrom<unknown>(
    Object.fromEntries(Array.from({ length: 1_001 }, (_, at) => [`n${at}`, 1])), Array.from({ length: 5_000 }, () => null), Array.from({ length: 400 }, () => [[1]]), 'x'.repeat(65_537), { ['x'.repeat(65_537)]: 1 }
  )
  await fc.assert(fc.asyncProperty(place, large, async (at, value) => {
    const { status, body } = await post(url, { jsonrpc: '2.0', id: 1, ...at(value) }, { 'x-api-key': testKeys.admin })
    t.match({ status, body }, { status: 400, body: { error: { code: -32_600, message: /at most 1000 values and 65536 characters/ } } }, JSON.stringify(at('...')))
  }), { numRuns: 100 })
  const call = request('tools/call', { name: 'echo', arguments: Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`n${at}`, at])) })
  t.match(await post(url, call, { 'x-api-key': testKeys.limited }), { status: 200, body: { result: { content: Array } } }, 'arguments are bounded by their tool')
  for (const long of [{ id: 'x'.repeat(1_025) }, { params: { _meta: { progressToken: 'x'.repeat(1_025) } } }, { method: 'notifications/cancelled', params: { requestId: 'x'.repeat(1_025) } }]) {
    t.match(await post(url, { ...request('ping'), ...long }, { 'x-api-key': testKeys.read }), { status: 400, body: { error: { message: /at most 1024 characters/ } } })
  }
})

t.test('the messages of the streams that a key has open are bounded in bytes; another key is served, and the same one later', async t => {
  const gone = new AbortController()
  const about = { ...meta, filler: 'x'.repeat(60_000) }
  const listen = async (key: string): Promise<Response> => await fetch(url, {
    method: 'POST',
    headers: {
      'x-api-key': key,
      'content-type': 'application/json',
      accept: 'text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'subscriptions/listen'
    },
    body: JSON.stringify(request('subscriptions/listen', { notifications: { toolsListChanged: true }, _meta: about })),
    signal: gone.signal
  })
  // Who collects garbage would close streams that nobody knows any more.
  const streams: Response[] = []
  let refused: Response | undefined
  while (refused === undefined && streams.length < 700) {
    const answers = await Promise.all(Array.from({ length: 50 }, async () => await listen(testKeys.read)))
    streams.push(...answers.filter(({ status }) => status === 200))
    refused = answers.find(({ status }) => status !== 200)
  }
  t.equal(refused?.status, 429)
  t.match(refused?.headers.get('retry-after'), /^\d+$/)
  t.match(await refused?.json(), { error: { code: -32_000, message: /open requests of this key at \/mcp hold the 33554432 bytes/, data: { code: 'RATE_LIMITED' } } })
  t.ok(streams.length > 500 && streams.length * 60_000 < 33_554_432, `${streams.length} streams`)
  t.equal((await listen(testKeys.admin)).status, 200)
  gone.abort()
  await waitFor('there is room again', async () => (await post(url, request('ping', { _meta: { filler: about.filler } }), { 'x-api-key': testKeys.read })).status === 200)
})
