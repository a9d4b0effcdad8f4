import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { takeTurns } from '@toolyard/runtime'
import { waitFor } from '../support/condition.ts'
import { listening } from '../support/listening.ts'
import { createService, testKeys } from '../support/service.ts'
import { leavesLoopFree } from './longest-turn.ts'
import { turnEnvironment, turnsOf } from './service-turns.ts'

const env = turnEnvironment()
const service = await createService(t, { workers: 0, env })
const leavesLoopsFree = turnsOf(service, env)
const { hostname, port } = new URL(service.api.address)

/**
 * Sends bytes on a connection of their own; resolves with the first answer and the
 * number of all, when there are so many or the connection ends.
 */
function send (bytes: string, expected = Infinity): Promise<{ first: string, answers: number }> {
  return new Promise(resolve => {
    const socket = connect(Number(port), hostname)
    let first = ''
    let answers = 0
    let rest = ''
    socket.setEncoding('latin1').on('data', (text: string) => {
      first ||= text
      const parts = (rest + text).split(mark)
      answers += parts.length - 1
      rest = parts.at(-1)?.slice(1 - mark.length) ?? ''
      if (answers === expected) socket.destroy()
    })
    socket.on('error', () => {}).on('close', () => { resolve({ first, answers }) })
    socket.write(bytes, 'latin1')
  })
}

/** Every answer has one. */
const mark = '\r\ncontent-type: '

t.test('promise 10: no requests that one connection sends at once hold up the API, with a key or without', async t => {
  const key = `x-api-key: ${testKeys.admin}\r\n`
  const requests: Record<string, string> = {
    'GET /health': 'GET /health HTTP/1.1\r\nhost:x\r\n\r\n',
    'unknown routes': 'GET /x HTTP/1.1\r\nhost:x\r\n\r\n',
    'requests without a key': 'GET /v1/jobs HTTP/1.1\r\nhost:x\r\n\r\n',
    'lists of tools': `GET /v1/agent-tools HTTP/1.1\r\nhost:x\r\n${key}\r\n`,
    'requests that fill a read': `GET /health HTTP/1.1\r\nhost:x\r\nx: ${'y'.repeat(4_000)}\r\n\r\n`,
    'batches of a tool that is not there': `POST /v1/agent-tools/invoke-batch HTTP/1.1\r\nhost:x\r\n${key}content-type: application/json\r\ncontent-length: 44\r\n\r\n{"calls":[{"call_id":"1","name":"nothing"}]}`
  }
  for (const [what, request] of Object.entries(requests)) {
    const sent = Math.min(10_000, Math.ceil(4_000_000 / request.length))
    await leavesLoopsFree(t, `${sent} times ${what}`, async () => {
      t.equal((await send(request.repeat(sent), sent)).answers, sent, 'each is answered')
    })
  }
  // Node.js itself answers the first of them, and closes the connection.
  for (const [what, request] of Object.entries({ 'requests without a host': 'GET / HTTP/1.1\r\n\r\n', 'what is no request': '\r\n\r\nx\r\n' })) {
    await leavesLoopsFree(t, `200,000 times ${what}`, async () => {
      // The end of the connection, whose bytes nobody reads any more, may overtake the answer.
      t.match((await send(request.repeat(200_000))).first, /^(?:HTTP\/1\.1 400 |$)/)
    })
  }
})

t.test('promise 10: no pieces in which a body comes hold up the API', async t => {
  const body = JSON.stringify({ calls: [{ call_id: '1', name: 'nothing', arguments: { a: 'é'.repeat(260_000) } }] })
  const bytes = Buffer.from(body).toString('latin1')
  const head = (path: string, key: string): string => `POST ${path} HTTP/1.1\r\nhost:x\r\n${key}content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`
  const pieces = (size: number): string => bytes.replace(new RegExp(`[^]{1,${size}}`, 'g'), piece => `${piece.length.toString(16)}\r\n${piece}\r\n`) + '0\r\n\r\n'
  const key = `x-api-key: ${testKeys.admin}\r\n`
  for (const size of [1, 2, 5, 100]) {
    const text = head('/v1/agent-tools/invoke-batch', key) + pieces(size)
    await leavesLoopsFree(t, `a body in pieces of ${size} bytes`, async () => {
      t.match((await send(text, 1)).first, /^HTTP\/1\.1 200 [^]*UNKNOWN_TOOL/)
    })
  }
  await leavesLoopsFree(t, 'a body in pieces of 1 byte without a key', async () => {
    t.match((await send(head('/v1/agent-tools/invoke-batch', '') + pieces(1), 1)).first, /^HTTP\/1\.1 401 /)
  })
})

t.test('promise 10: 200 connections whose bodies come in pieces at once, as programs open them to the proxy of their network, hold up no process', async t => {
  const server = createServer((request, response) => { request.resume().on('end', () => { response.end() }) })
  takeTurns(server)
  let open = 0
  server.on('connection', socket => {
    open += 1
    socket.on('close', () => { open -= 1 })
  })
  const port = await listening(t, server)
  const text = `POST / HTTP/1.1\r\nhost:x\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n${'1\r\n1\r\n'.repeat(8_000)}0\r\n\r\n`
  await leavesLoopFree(t, '200 bodies in 8,000 pieces', async () => {
    const sockets = await Promise.all(Array.from({ length: 200 }, async () => {
      const socket = connect(port, '127.0.0.1').on('error', () => {}).resume()
      await once(socket, 'connect')
      return socket
    }))
    await waitFor('all are taken', () => open === sockets.length)
    const ends = sockets.map(async socket => { await once(socket, 'close') })
    for (const socket of sockets) socket.write(text)
    await Promise.all(ends)
  })
})

t.test('connections take turns: beside some that ask again and again, another one is answered, however much of each turn they use', async t => {
  const server = createServer((request, response) => {
    const until = performance.now() + 1
    while (request.url === '/busy' && performance.now() < until);
    response.end()
  })
  takeTurns(server)
  const port = await listening(t, server)
  await keepBusy(t, port, 6)
  for (let asked = 0; asked < 5; asked++) {
    const socket = connect(port, '127.0.0.1', () => { socket.write('GET /other HTTP/1.1\r\nhost:x\r\n\r\n') })
    const [answer] = await once(socket, 'data', { signal: AbortSignal.timeout(5_000) }) as [Buffer]
    t.match(answer.toString('latin1'), /^HTTP\/1\.1 200 /)
    socket.destroy()
  }
})

t.test('a small request doesn\'t wait until each connection that others keep busy had its share', async t => {
  let busyRequests = 0
  const server = createServer((request, response) => {
    if (request.url === '/busy') busyRequests += 1
    // What follows from a request takes time as well.
    queueMicrotask(() => {
      const until = performance.now() + 1
      while (request.url === '/busy' && performance.now() < until);
      response.end()
    })
  })
  takeTurns(server)
  const port = await listening(t, server)
  const count = 60
  const small = connect(port, '127.0.0.1')
  t.teardown(() => { small.destroy() })
  await keepBusy(t, port, count)
  for (let asked = 0; asked < 5; asked++) {
    const before = busyRequests
    small.write('GET /other HTTP/1.1\r\nhost:x\r\n\r\n')
    await once(small, 'data')
    const between = busyRequests - before
    t.ok(between < 2 * count, `${between} of the others' requests come before it`)
  }
})

/** Pipelines requests on so many connections, without end, once each of them has had an answer. */
async function keepBusy (t: Test, port: number, count: number): Promise<void> {
  const requests = 'GET /busy HTTP/1.1\r\nhost:x\r\n\r\n'.repeat(1_000)
  const sockets = Array.from({ length: count }, () => {
    const socket = connect(port, '127.0.0.1').on('error', () => {}).resume()
    const send = (): void => { while (socket.write(requests)); }
    return socket.on('connect', send).on('drain', send)
  })
  t.teardown(() => { for (const socket of sockets) socket.destroy() })
  await Promise.all(sockets.map(async socket => { await once(socket, 'data') }))
}
