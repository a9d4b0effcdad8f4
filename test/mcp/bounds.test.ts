import t from 'tap'
import { entries, programs } from '../e2e/tools.ts'
import { createService, testKeys } from '../support/service.ts'
import { eras, post, rpc, type RpcAnswer } from './clients.ts'

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
  env: {
    API_KEYS_JSON: JSON.stringify([
      { name: 'admin', key: testKeys.admin, role: 'admin' },
      { name: 'reader', key: testKeys.read, role: 'read' },
      { name: 'plain', key: testKeys.limited, role: 'admin', sse: false }
    ])
  }
})
const url = `${api.address}/mcp`
const uri = (file: string): string => `skill://large/${file}.txt`
const request = (method: string, params: object = {}, id: unknown = 1): object => ({ jsonrpc: '2.0', id, method, params })

/** Sends a batch; its answers by id. */
async function batch (messages: object[], key: string = testKeys.read): Promise<{ bytes: number, answers: Array<RpcAnswer['body']> }> {
  const { text } = await post(url, messages, { 'x-api-key': key })
  const answers = JSON.parse(text) as Array<RpcAnswer['body']>
  return { bytes: Buffer.byteLength(text), answers: answers.sort((a, b) => Number(a.id) - Number(b.id)) }
}

for (const era of eras) {
  t.test(`a client of ${era} reads a file of a skill of 1 MiB; of a larger one it is told what to do`, async t => {
    const read = async (file: string): Promise<RpcAnswer['body']> => (era === '2026-07-28'
      ? await rpc(api.address, 'resources/read', { uri: uri(file) }, { key: testKeys.read })
      : await post(url, request('resources/read', { uri: uri(file) }), { 'x-api-key': testKeys.read, 'mcp-protocol-version': era })).body
    t.match((await read('most')).result, { contents: [{ mimeType: 'text/plain', text: /^x+$/ }] })
    t.match((await read('more')).error, { code: -32_602, message: /has 1048577 bytes, and a resource at most 1048576\. Split the file/ })
  })
}

t.test('a batch has at most 100 messages, and the answer says so', async t => {
  const pings = (count: number): object[] => Array.from({ length: count }, (_, id) => request('ping', {}, id))
  t.equal((await batch(pings(100))).answers.length, 100)
  const refused = await post(url, pings(101), { 'x-api-key': testKeys.read })
  t.match(refused, { status: 400, body: { error: { code: -32_600, message: /at most 100 messages/ } } })
})

t.test('the answer of a batch has at most 4 MiB: a message beyond is answered by an error, a smaller one behind it as ever', async t => {
  const reads = Array.from({ length: 19 }, (_, id) => request('resources/read', { uri: uri('most') }, id))
  const { bytes, answers } = await batch([...reads, request('ping', {}, 19)])
  t.ok(bytes < 4_300_000, `${bytes} bytes`)
  t.strictSame(answers.map(({ result }) => result !== undefined), Array.from({ length: 20 }, (_, id) => id < 3 || id === 19))
  t.match(answers[3], { id: 3, error: { code: -32_000, message: /answer of a batch has at most 4194304 bytes, .*send this message by itself/ } })
})

t.test('a call of a batch whose output has no room in the answer names its job', async t => {
  const call = (name: string, args: object, id: number): object => request('tools/call', { name, arguments: args }, id)
  const calls = Array.from({ length: 6 }, (_, id) => call('big', { char: 'x', count: 1_000_000 }, id))
  const { bytes, answers } = await batch(calls, testKeys.limited)
  t.ok(bytes < 4_300_000, `${bytes} bytes`)
  t.equal(answers.filter(({ result }) => result !== undefined).length, 4)
  t.match(answers.find(({ error }) => error !== undefined)?.error, { code: -32_000, data: { job_id: /^[0-9a-f-]{36}$/ } })
})

t.test('a session watches URIs of 2 KiB, and of 32 KiB together; those of one batch are all kept', async t => {
  const initialize = request('initialize', { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'raw', version: '1' } })
  const begun = await post(url, initialize, { 'x-api-key': testKeys.read })
  const headers = { 'x-api-key': testKeys.read, 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' }
  const subscribe = (of: string, id = 1): object => request('resources/subscribe', { uri: `note:${of}` }, id)
  const long = await post(url, subscribe('x'.repeat(2_044)), headers)
  t.match(long.body, { error: { code: -32_602, message: /has 2049 bytes, and one that is watched at most 2048/ } })
  const { text } = await post(url, Array.from({ length: 17 }, (_, id) => subscribe(String(id).padStart(2_043, '0'), id)), headers)
  const answers = JSON.parse(text) as Array<RpcAnswer['body']>
  t.equal(answers.filter(({ result }) => result !== undefined).length, 16)
  const refused = answers.find(({ error }) => error !== undefined)
  t.match(refused?.error, { code: -32_602, message: /at most 100 resources, whose URIs have at most 32768 bytes/ })
})
