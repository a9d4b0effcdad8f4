import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { createService, makeKeys } from '../support/service.ts'

const { keys, API_KEYS_JSON } = makeKeys({ one: {}, other: {} })
/** Of each, 512 KiB are in memory, and of all at most 128 MiB. */
const most = 256

t.test('files that a key does not read count as answers, as far as they are in memory', async t => {
  // A system takes some MB of an answer that nobody reads.
  const files = { 'workspace/large.bin': 'x'.repeat(20_000_000), 'workspace/small.bin': 'x' }
  const { api, client } = await createService(t, { workers: 0, files, env: { API_KEYS_JSON } })
  const { hostname, port } = new URL(api.address)
  const memory = (): number => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${api.child.pid}/status`, 'utf8'))?.[1]) / 1_024
  const get = async (name: string, key: string): Promise<number> => (await client.request(`/v1/files/${name}`, { key })).status
  t.equal(await get('large.bin', keys.one), 200)
  const before = memory()
  const sockets: Socket[] = []
  t.teardown(() => { for (const socket of sockets) socket.destroy() })
  let line = 'HTTP/1.1 200'
  while (line === 'HTTP/1.1 200' && sockets.length <= most + 20) {
    const socket = connect(Number(port), hostname).on('error', () => {})
    sockets.push(socket)
    await once(socket, 'connect')
    // It reads a little ahead, and no more.
    socket.on('readable', () => {})
    socket.write(`GET /v1/files/large.bin HTTP/1.1\r\nhost: x\r\nx-api-key: ${keys.one}\r\n\r\n`)
    line = String(await waitFor('it is answered', () => socket.read(12) as Buffer | null ?? undefined, 60_000))
  }
  t.same([line, sockets.length], ['HTTP/1.1 429', most + 1])
  t.ok(memory() - before < 2 * 128, `${memory() - before} MB more`)
  t.match((await client.request('/v1/files/large.bin', { key: keys.one })).body, { error: { code: 'RATE_LIMITED', message: /answers that this key has not read/ } })
  t.equal((await client.request('/v1/files/large.bin', { key: keys.one, method: 'HEAD' })).status, 200, 'nothing is sent of it')
  t.equal(await get('small.bin', keys.one), 200)
  t.equal(await get('large.bin', keys.other), 200)
  for (const socket of sockets) socket.destroy()
  await waitFor('it is served again', async () => await get('large.bin', keys.one) === 200)
})
