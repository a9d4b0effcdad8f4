import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { takeTurns } from '@toolyard/runtime'
import { waitFor } from '../support/condition.ts'
import { listening } from '../support/listening.ts'
import { createService, testKeys } from '../support/service.ts'

t.test('of the requests that a connection sends at once, one begins when the one before it is answered', async t => {
  const seen: string[] = []
  let [open, most] = [0, 0]
  const server = createServer((request, response) => {
    most = Math.max(most, ++open)
    response.once('close', () => { open -= 1 })
    request.setEncoding('latin1').toArray().then(async parts => {
      seen.push(`${request.method} ${request.url} ${parts.join('')}`)
      await delay(1)
      response.end(request.url)
    }).catch(() => {})
  })
  takeTurns(server)
  const port = await listening(t, server)
  const kinds = [
    (at: number) => [`GET /${at} HTTP/1.1\r\nhost:x\r\n\r\n`, `GET /${at} `],
    (at: number) => [`POST /${at} HTTP/1.1\r\nhost:x\r\ncontent-length: 7\r\n\r\na\r\n\r\nbc`, `POST /${at} a\r\n\r\nbc`],
    (at: number) => [`POST /${at} HTTP/1.1\r\nhost:x\r\ncontent-length: 5000\r\n\r\n${'x'.repeat(5_000)}`, `POST /${at} ${'x'.repeat(5_000)}`],
    (at: number) => [`POST /${at} HTTP/1.1\r\nhost:x\r\ntransfer-encoding: chunked\r\n\r\n4\r\n\r\n\r\n\r\n2\r\nyz\r\n0\r\n\r\n`, `POST /${at} \r\n\r\nyz`],
    (at: number) => [`GET /${at} HTTP/1.1\r\nhost:x\r\nx: ${'y'.repeat(3_000)}\r\n\r\n`, `GET /${at} `]
  ]
  const sent = Array.from({ length: 200 }, (_, at) => kinds[at % kinds.length]?.(at) ?? [])
  const text = sent.map(([bytes = '']) => bytes).join('')
  for (const size of [text.length, 997, 61]) {
    seen.length = 0
    const socket = connect(port, '127.0.0.1').resume()
    t.teardown(() => { socket.destroy() })
    await once(socket, 'connect')
    for (let at = 0; at < text.length; at += size) socket.write(text.slice(at, at + size))
    await waitFor('all are answered', () => seen.length === sent.length)
    t.same(seen, sent.map(([, expected]) => expected), `sent in pieces of ${size} bytes`)
  }
  t.equal(most, 1)
})

t.test('downloads that a connection asks for at once, and does not read, hold one file, and none when it is gone', async t => {
  const { api, client } = await createService(t, { workers: 0, files: { 'workspace/large.bin': 'x'.repeat(20_000_000) } })
  t.equal((await client.request('/ready')).status, 200)
  const { hostname, port } = new URL(api.address)
  const files = (): number => readdirSync(`/proc/${api.child.pid}/fd`).length
  const before = files()
  const sockets: Socket[] = []
  t.teardown(() => { for (const socket of sockets) socket.destroy() })
  for (let count = 0; count < 5; count++) {
    const socket = connect(Number(port), hostname).on('error', () => {})
    sockets.push(socket)
    await once(socket, 'connect')
    socket.pause()
    socket.write(`GET /v1/files/large.bin HTTP/1.1\r\nhost: x\r\nx-api-key: ${testKeys.read}\r\n\r\n`.repeat(500))
    await waitFor('it is answered', () => (socket.read(12) as Buffer | null)?.toString() === 'HTTP/1.1 200')
  }
  for (let looks = 0; looks < 20; looks++) t.equal((await client.request('/ready')).status, 200)
  // Of each connection itself and its file; the client of the test has some, too.
  t.ok(files() <= before + 2 * sockets.length + 20, `${files() - before} more files are open`)
  for (const socket of sockets) socket.destroy()
  await waitFor('all are closed', () => files() <= before + 20)
})
