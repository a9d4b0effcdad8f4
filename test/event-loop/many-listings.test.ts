import { orElse } from '@toolyard/contract/terms'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { createService, testKeys } from '../support/service.ts'
import { turnEnvironment, turnsOf } from './service-turns.ts'

const env = turnEnvironment()
const service = await createService(t, { workers: 0, env })
const leavesLoopsFree = turnsOf(service, env)

const directory = join(service.dir, 'workspace', 'many')
mkdirSync(directory)
for (let n = 0; n < 20_000; n++) writeFileSync(join(directory, `${n}`), '')

/** Asks for the same listing on many connections at once. */
async function ask (): Promise<Socket[]> {
  const { hostname, port } = new URL(service.api.address)
  return await Promise.all(Array.from({ length: 100 }, async () => {
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    socket.write(`GET /v1/files/many?limit=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\nx-api-key: ${testKeys.admin}\r\n\r\n`)
    return socket
  }))
}

/** How often the API has the directory open. */
function timesOpen (): number {
  const at = `/proc/${service.api.child.pid}/fd`
  return readdirSync(at).filter(fd => orElse(() => readlinkSync(join(at, fd)), '') === directory).length
}

t.test('promise 10: a hundred listings of a large directory at once are read a piece at a time', async t => {
  await leavesLoopsFree(t, 'a hundred listings', async () => {
    await Promise.all((await ask()).map(async socket => { await once(socket.resume(), 'close') }))
  })
})

t.test('a listing whose client has gone ends with the piece that is being read', async t => {
  const sockets = await ask()
  await waitFor('the listings to begin', () => timesOpen() > 50)
  for (const socket of sockets) socket.destroy()
  const began = performance.now()
  await waitFor('the listings to end', () => timesOpen() === 0, 60_000)
  const one = performance.now()
  await service.client.request('/v1/files/many?limit=1')
  t.ok(began + 10 * (performance.now() - one) > one, 'in less time than ten listings take')
})
