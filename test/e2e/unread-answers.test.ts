import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { meta } from '../mcp/clients.ts'
import type { TestCall } from '../support/client.ts'
import { createService, makeKeys } from '../support/service.ts'

const { keys, API_KEYS_JSON } = makeKeys({ acme: { tenant: 'acme' }, other: { tenant: 'other' } })
const path = '/v1/agent-tools/invoke-batch'
const chars = 200_000
const calls = 20
/** An answer has 16 MB: the system takes some 4 MB of one that nobody reads. */
const mostAnswers = 8

t.test('a tenant that reads none of its large answers makes no more work until it has, and others are served', async t => {
  const { api, client } = await createService(t, { files: { 'workspace/large.txt': 'é'.repeat(2 * chars) }, env: { API_KEYS_JSON } })
  const call = { name: 'data_file_read', arguments: { path: 'large.txt', max_bytes: 1_000_000 } }
  const body = { calls: Array.from({ length: calls }, (_, index) => ({ call_id: `c${index}`, ...call })), max_output_chars: chars }
  const headers = { 'idempotency-key': 'large' }
  const first = await client.request(path, { body, headers, key: keys.acme })
  t.equal(first.status, 200)
  t.ok(JSON.stringify(first.body).length > 2 * calls * chars)
  const small = { calls: [{ call_id: 'a', ...call }] }
  const status = async (key: string): Promise<number> => (await client.request(path, { body: small, key })).status

  const text = JSON.stringify(body)
  const clients: Socket[] = []
  t.teardown(() => { for (const socket of clients) socket.destroy() })
  let line = 'HTTP/1.1 200'
  // One after the other: a busy machine can't read the outputs for many at once, and answers without them.
  while (line === 'HTTP/1.1 200' && clients.length <= mostAnswers) {
    const socket = await neverRead(api.address, text, keys.acme)
    clients.push(socket)
    line = String(await waitFor('it is answered', () => socket.read(12) as Buffer | null ?? undefined, 60_000))
  }
  t.same([line, clients.length], ['HTTP/1.1 429', mostAnswers + 1], '128 MiB at most are on their way')
  const refused = await client.request(path, { body: small, key: keys.acme })
  t.match(refused.body, { error: { code: 'RATE_LIMITED', message: /answers that this tenant has not read/ } })
  t.equal(await status(keys.other), 200)
  t.equal((await client.request('/v1/auth/whoami', { key: keys.acme })).status, 200)

  for (const socket of clients) socket.destroy()
  await waitFor('it is served again', async () => await status(keys.acme) === 200)
  t.equal((await client.request(path, { body, headers, key: keys.acme })).status, 200)
})

t.test('outputs of calls that have ended, in batches that wait for another one, count as answers', async t => {
  const { client } = await createService(t, { files: { 'workspace/large.txt': 'x'.repeat(2 * chars) }, env: { API_KEYS_JSON } })
  const { job_id: done = '' } = await client.call('data_file_read', { path: 'large.txt', max_bytes: 1_000_000 }, {}, keys.acme)
  const later = { type: 'data.file_read', input: { path: 'README.md' }, delay_ms: 600_000 }
  const { body: { job } } = await client.request<{ job: { id: string } }>('/v1/jobs', { body: later, key: keys.acme })
  const ask = (call_id: string, job_id: string, wait_ms: number): TestCall => ({ call_id, name: 'job_result', arguments: { job_id, wait_ms } })
  const ended = Array.from({ length: calls - 1 }, (_, index) => ask(`c${index}`, done, 0))
  const waits = { calls: [...ended, ask('w', job.id, 20_000)], wait_ms: 20_000, max_output_chars: chars }
  const read = client.batch([ask('a', done, 0)], { max_output_chars: chars }, keys.other)
  t.match(await read, { results: [{ ok: false, error: { code: 'INVALID_ARGUMENTS' } }] }, 'it is not the job of another tenant')
  const answers = await Promise.all(Array.from({ length: 12 }, async () => await client.batch(waits.calls, waits, keys.acme)))
  const results = answers.flatMap(answer => answer.results.slice(0, -1))
  const whole = results.filter(({ ok }) => ok).length
  // Of each as many bytes are counted as its characters may have.
  const most = Math.floor(2 ** 26 / (2 * chars))
  t.ok(whole <= most && whole > most / 4, `${whole} of ${results.length} are whole, and ${most} may be`)
  const left = results.filter(({ ok }) => !ok)
  for (const result of left) t.match(result, { pending: true, job_id: done, error: { code: 'TIMEOUT', message: /has ended, its output can't be read now/ } })
  t.match(await client.batch(ended, { max_output_chars: chars }, keys.acme), { results: ended.map(() => ({ ok: true })) }, 'they are read afterwards')
})

t.test('outputs of calls of MCP count until their clients have read them', async t => {
  const { api } = await createService(t, {
    tools: [{ name: 'flood', description: 'Writes much.', schema: { type: 'object' }, command: ['./tools/bin/flood.sh'], permissions: [] }],
    files: { 'tools/bin/flood.sh': '#!/bin/sh\nhead -c 8000000 /dev/zero | tr "\\0" x\n' },
    env: { API_KEYS_JSON, MAX_OUTPUT_BYTES: '8388608' }
  })
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'flood', arguments: {}, _meta: meta } })
  const request = [
    'POST /mcp HTTP/1.1', 'host: x', `x-api-key: ${keys.acme}`, 'content-type: application/json', 'accept: application/json',
    'mcp-protocol-version: 2026-07-28', 'mcp-method: tools/call', 'mcp-name: flood', `content-length: ${body.length}`, '', body
  ].join('\r\n')
  const begins: string[] = []
  const sockets: Socket[] = []
  t.teardown(() => { for (const socket of sockets) socket.destroy() })
  while (begins.at(-1)?.includes('isError') !== true && begins.length < 12) {
    const socket = await pausedSocket(api.address)
    sockets.push(socket)
    socket.write(request)
    const read = async (): Promise<string> => String(await waitFor('it is answered', () => socket.read() as Buffer | null ?? undefined, 60_000))
    let text = await read()
    while (!text.includes('"result"')) text += await read()
    begins.push(text)
  }
  t.equal(begins.length, 9, '64 MiB have room for eight')
  t.match(begins.at(-1), /has ended, its output can't be read now/)
})

t.test('logs of jobs that a tenant does not read count as its answers', async t => {
  const lines = '#!/bin/sh\nhead -c 8000000 /dev/zero | tr "\\0" x | fold -w 4000 >&2\n'
  const { api, client } = await createService(t, {
    tools: [{ name: 'chatter', description: 'Writes a long log.', schema: { type: 'object' }, command: ['./tools/bin/chatter.sh'] }],
    files: { 'tools/bin/chatter.sh': lines },
    env: { API_KEYS_JSON }
  })
  const { job_id: id } = await client.call('chatter', {}, {}, keys.acme)
  const logs = `/v1/jobs/${id}/logs?tail=2000`
  const status = async (): Promise<number> => (await client.request(logs, { key: keys.acme })).status
  const whole = await waitFor('the log is whole', async () => {
    const { text } = await client.request(logs, { key: keys.acme })
    return text.length > 7_000_000 ? text : undefined
  })
  const most = Math.ceil(2 ** 27 / whole.length)
  const clients: Socket[] = []
  t.teardown(() => { for (const socket of clients) socket.destroy() })
  let line = 'HTTP/1.1 200'
  while (line === 'HTTP/1.1 200' && clients.length <= most) {
    const socket = await pausedSocket(api.address)
    clients.push(socket)
    socket.write(`GET ${logs} HTTP/1.1\r\nhost: x\r\nx-api-key: ${keys.acme}\r\n\r\n`)
    line = String(await waitFor('it is answered', () => socket.read(12) as Buffer | null ?? undefined, 60_000))
  }
  t.equal(line, 'HTTP/1.1 429', `after ${clients.length} of ${most} answers`)
  t.equal(await status(), 429)
  t.equal((await client.request(logs)).status, 200, 'the operator reads it')
  for (const socket of clients) socket.destroy()
  await waitFor('it is read again', async () => await status() === 200)
})

async function pausedSocket (address: string): Promise<Socket> {
  const { hostname, port } = new URL(address)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.pause()
  return socket
}

async function neverRead (address: string, body: string, key: string): Promise<Socket> {
  const socket = await pausedSocket(address)
  const headers = [`x-api-key: ${key}`, 'idempotency-key: large', 'content-type: application/json', `content-length: ${Buffer.byteLength(body)}`]
  socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\n${headers.join('\r\n')}\r\n\r\n${body}`)
  return socket
}
