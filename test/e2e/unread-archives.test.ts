import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { createService, makeKeys } from '../support/service.ts'

const { keys, API_KEYS_JSON } = makeKeys({ one: {}, other: {} })
const levels = 40
const [most, asked] = [16, 30]

t.test('of the archives that a key does not read, 16 are sent at a time; the next ones wait for these, and those of others do not', async t => {
  const deep = 'd/'.repeat(levels)
  // A system takes some MB of an answer that nobody reads.
  const files = { [`workspace/${deep}large.bin`]: 'x'.repeat(20_000_000), 'workspace/small/file': 'x' }
  const { api, client } = await createService(t, { workers: 0, files, env: { API_KEYS_JSON } })
  const { hostname, port } = new URL(api.address)
  const open = (): number => readdirSync(`/proc/${api.child.pid}/fd`).length
  const status = async (key: string): Promise<number> => (await client.request('/v1/files/small?archive=tar', { key })).status
  t.equal(await status(keys.one), 200)
  const before = open()
  const sockets: Socket[] = []
  t.teardown(() => { for (const socket of sockets) socket.destroy() })
  for (let count = 0; count < asked; count++) {
    const socket = connect(Number(port), hostname).on('error', () => {})
    sockets.push(socket)
    await once(socket, 'connect')
    // It reads a little ahead, and no more.
    socket.on('readable', () => {})
    socket.write(`GET /v1/files?archive=tar HTTP/1.1\r\nhost: x\r\nx-api-key: ${keys.one}\r\n\r\n`)
  }
  const answered = (): number => sockets.filter(socket => !socket.destroyed && socket.readableLength > 0).length
  await waitFor('some are answered', () => answered() >= most)
  t.equal(await status(keys.other), 200)
  t.equal((await client.request('/v1/files/small/file', { key: keys.one })).status, 200)
  t.equal(answered(), most)
  t.ok(open() - before < most * 2 * (levels + 10) + 2 * asked, `${open() - before} more files are open`)
  for (const socket of sockets.slice(0, 5)) socket.destroy()
  await waitFor('the next ones are answered', () => answered() === most)
  for (const socket of sockets) socket.destroy()
  await waitFor('it is served again', async () => await status(keys.one) === 200)
})
