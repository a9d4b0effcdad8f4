import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
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

async function neverRead (address: string, body: string, key: string): Promise<Socket> {
  const { hostname, port } = new URL(address)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.pause()
  const headers = [`x-api-key: ${key}`, 'idempotency-key: large', 'content-type: application/json', `content-length: ${Buffer.byteLength(body)}`]
  socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\n${headers.join('\r\n')}\r\n\r\n${body}`)
  return socket
}
