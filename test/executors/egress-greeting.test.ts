import { connect as connectTls } from 'node:tls'
import { createServer, connect, type Socket } from 'node:net'
import { createCallTable, createConnector, createHttpProxy, EgressRefusal, readGreeting, type Connector } from '@toolyard/executors'
import { readEgressRule } from '@toolyard/runtime/outgoing'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { waitFor } from '../support/condition.ts'
import { listening } from '../support/listening.ts'

/** A TLS client's first message. */
async function helloFor (servername: string): Promise<Buffer> {
  const server = createServer()
  const port = await listening(t, server)
  const taken = new Promise<Buffer>(resolve => {
    server.once('connection', socket => { socket.once('data', bytes => { resolve(bytes); socket.destroy() }).on('error', () => {}) })
  })
  const client = connectTls({ port, host: '127.0.0.1', ...servername !== '' && { servername } }).on('error', () => {})
  const bytes = await taken
  client.destroy()
  return bytes
}

void t.test('the host of a TLS greeting is read, however it comes in pieces and in 64 records at most', async t => {
  const hello = await helloFor('api.test')
  t.same(readGreeting(hello), { kind: 'tls', name: 'api.test' })
  t.same(readGreeting(await helloFor('')), { kind: 'tls', name: undefined })
  const message = hello.subarray(5)
  const sizesOf = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 8 })
  fc.assert(fc.property(sizesOf, fc.nat(hello.length - 1), (sizes, cut) => {
    const records: Buffer[] = []
    let at = 0
    for (let index = 0; at < message.length; index++) {
      const part = message.subarray(at, at + (sizes[index % sizes.length] ?? 1))
      records.push(Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part)
      at += part.length
    }
    const split = readGreeting(Buffer.concat(records))
    const isRead = split.kind === 'tls' && split.name === 'api.test'
    if (records.length / 2 > 64 ? split.kind !== 'unclear' : !isRead) throw new Error('a split greeting was misread')
    if (readGreeting(hello.subarray(0, cut)).kind !== 'more') throw new Error(`the first ${cut} bytes were taken for a whole`)
  }))
})

t.test('no bytes make the reader fail, and what is wrong is never taken for TLS with a name', async t => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), bytes => { readGreeting(Buffer.from(bytes)) }))
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), bytes => {
    readGreeting(Buffer.concat([Buffer.from([22, 3, 1, 0, bytes.length, 1, 0, 0, Math.max(0, bytes.length - 4)]), Buffer.from(bytes)]))
  }))
  for (const line of ['\r\nPOST / HTTP/1.1\r\n', `${'\r\n'.repeat(9)}GET / HTTP/1.1\n`, 'M-SEARCH * HTTP/1.1\r\n', 'get\t/ http/1.1\n', 'PRI * HTTP/2.0\r\n']) {
    t.equal(readGreeting(Buffer.from(line)).kind, 'http', line)
    if (!line.startsWith('get')) t.equal(readGreeting(Buffer.from(line.trimEnd())).kind, 'more', line)
  }
  t.equal(readGreeting(Buffer.from('GE')).kind, 'more')
  for (const said of ['SSH-2.0-x\r\n', 'EHLO me\r\n', 'ruok', 'start', '*1\r\n', '{', 'AMQP\0', '\0\0\0\x08', '\x16\x01\0']) t.equal(readGreeting(Buffer.from(said)).kind, 'other', said)
  t.equal(readGreeting(Buffer.alloc(0)).kind, 'more')
})

/** A proxy in this process whose connections all lead to one server; gives what that received. */
async function proxy (t: Test, entry = 'api.test'): Promise<{ port: number, received: () => Buffer, refused: string[] }> {
  const seen: Buffer[] = []
  const refused: string[] = []
  const sockets = new Set<Socket>()
  const behind = createServer(socket => { sockets.add(socket.on('data', bytes => { seen.push(bytes) }).on('error', () => {})) })
  const hostPort = await listening(t, behind)
  const rule = readEgressRule(entry)
  const connector: Connector = {
    admit: () => rule ?? { host: '', port: 1 },
    open: async () => await new Promise(resolve => { const socket = connect(hostPort, '127.0.0.1', () => { resolve(socket) }) }),
    openSecure: async () => await Promise.reject(new Error('no TLS')),
    isInside: () => false,
    refuse: (_target, _by, why) => { refused.push(why); return new EgressRefusal(403, why) }
  }
  const http = createHttpProxy(connector, { enter: () => ({ token: '', leave: () => [] }), find: () => undefined, secretsFor: () => [], denied: () => {}, unreached: () => {}, opened: () => {}, running: () => 0 })
  const front = createServer({ allowHalfOpen: true }, socket => { sockets.add(socket); http.serve(socket) })
  const port = await listening(t, front)
  t.teardown(() => { for (const socket of sockets) socket.destroy(); http.close() })
  return { port, received: () => Buffer.concat(seen), refused }
}

/** Sends bytes behind a CONNECT, and waits until the proxy ends it or the server has got something. */
async function through (place: { port: number, received: () => Buffer }, bytes: Buffer): Promise<void> {
  const socket = connect(place.port, '127.0.0.1').on('error', () => {})
  socket.write('CONNECT api.test:443 HTTP/1.1\r\nHost: api.test:443\r\n\r\n')
  socket.once('data', () => { socket.write(bytes) }).resume()
  while (!socket.destroyed && place.received().length === 0) await new Promise(resolve => { setTimeout(resolve, 5) })
  socket.destroy()
}

void t.test('a greeting that names the host of CONNECT passes, another or none is cut off', async t => {
  const own = await proxy(t)
  const hello = await helloFor('api.test')
  await through(own, hello)
  t.same(own.received(), hello)
  const changed = await Promise.all(['\0api.test', 'api.test\0', 'api\xad.test'].map(async name => {
    const placed = (await helloFor('x'.repeat(name.length))).toString('latin1').replace('x'.repeat(name.length), name)
    return [Buffer.from(placed, 'latin1'), /names another host/] as const
  }))
  for (const [bytes, why] of [...changed, [await helloFor('other.test'), /names another host, "other\.test"/], [await helloFor(''), /names no host/], [Buffer.from('SSH-2.0-x\r\n'), /neither TLS nor HTTP/]] as const) {
    const place = await proxy(t)
    await through(place, bytes)
    t.equal(place.received().length, 0)
    t.match(place.refused, [why])
  }
})

void t.test('other protocols pass at an entry with a port, also those that begin with a word', async t => {
  for (const said of ['EHLO me\r\n', 'ruok', 'USER anonymous\r\n', 'CONNECT {"verbose":false}\r\n', 'OPTIONS rtsp://api.test RTSP/1.0\r\n', '\0\0\0\x08\x04\xd2\x16\x2f']) {
    const place = await proxy(t, 'api.test:443')
    await through(place, Buffer.from(said, 'latin1'))
    t.equal(place.received().toString('latin1'), said)
  }
})

void t.test('TLS and HTTP that name another host are cut off at an entry with a port, however they are written', async t => {
  const other = await helloFor('other.test')
  const length = other.readUIntBE(6, 3) + 40_000
  const extensions = other.indexOf('other.test') - 11
  const padding = Buffer.concat([Buffer.from([0, 21, 156, 60]), Buffer.alloc(39_996)])
  const padded = Buffer.concat([other.subarray(9, extensions), Buffer.alloc(2), other.subarray(extensions + 2), padding])
  padded.writeUInt16BE(padded.length - (extensions - 9) - 2, extensions - 9)
  const message = Buffer.concat([Buffer.from([1, length >> 16, length >> 8 & 255, length & 255]), padded])
  const records = Array.from({ length: Math.ceil(message.length / 16_000) }, (_, at) => {
    const part = message.subarray(at * 16_000, (at + 1) * 16_000)
    return Buffer.concat([Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part])
  })
  const host = 'Host: other.test\r\n\r\n'
  const said = [
    other,
    ...[[22, 3, 1, 0, 0], [21, 3, 1, 0, 2, 1, 90]].map(record => Buffer.concat([Buffer.from(record), other])),
    Buffer.concat(records),
    ...['\r\n\r\n\r\n\r\n\r\nGET /', 'M-SEARCH *', 'AB /', `GET /${'x'.repeat(20_000)}`].map(line => Buffer.from(`${line} HTTP/1.1\r\n${host}`))
  ]
  for (const [at, bytes] of said.entries()) {
    const place = await proxy(t, 'api.test:443')
    await through(place, bytes)
    t.equal(place.received().length, 0, `${at}`)
  }
})

void t.test('a program that leaves before its host is reached leaves no connection behind', async t => {
  const behind = createServer(socket => { socket.on('error', () => {}) })
  const port = await listening(t, behind)
  const left: Array<() => void> = []
  const calls = createCallTable(() => {})
  const connector = createConnector({
    rules: [{ host: 'api.test', port }],
    privateHosts: ['api.test'],
    calls,
    lookup: (_host, _options, callback) => { left.push(() => { callback(null, [{ address: '127.0.0.1', family: 4 }]) }) }
  })
  const http = createHttpProxy(connector, calls)
  const clients: Socket[] = []
  const front = createServer({ allowHalfOpen: true }, socket => { clients.push(socket); http.serve(socket) })
  const frontPort = await listening(t, front)
  t.teardown(() => { http.close() })
  const opened = async (): Promise<number> => await new Promise(resolve => { behind.getConnections((_error, count) => { resolve(count) }) })
  const program = (): Socket => {
    const socket = connect(frontPort, '127.0.0.1').on('error', () => {})
    socket.write(`CONNECT api.test:${port} HTTP/1.1\r\nHost: api.test:${port}\r\n\r\n`)
    return socket
  }
  for (let at = 0; at < 5; at++) {
    const socket = program()
    await waitFor('the name is looked up', () => left.length === at + 1)
    socket.resetAndDestroy()
  }
  await waitFor('all have left', () => clients.every(({ destroyed }) => destroyed))
  for (const answer of left) answer()
  const stays = program()
  await waitFor('another one is served', async () => { left.at(-1)?.(); return await opened() > 0 })
  t.equal(await opened(), 1)
  stays.destroy()
  await waitFor('its connection ends with it', async () => await opened() === 0)
})

t.test('a program that leaves before TLS begins with its host ends the request at once', async t => {
  let closed = 0
  const behind = createServer(socket => { socket.on('error', () => {}).on('close', () => { closed += 1 }).resume() })
  const port = await listening(t, behind)
  const client = connect(port, '127.0.0.1').on('error', () => {})
  const gate = createConnector({
    rules: [{ host: 'api.test', port }],
    privateHosts: ['api.test'],
    calls: createCallTable(() => {}),
    lookup: (_host, _options, callback) => { callback(null, [{ address: '127.0.0.1', family: 4 }]) },
    inTurn: async () => {
      client.destroy()
      await waitFor('it has left, and so has the connection to its host', () => closed === 2)
    }
  })
  let refusal: unknown
  gate.openSecure({ host: 'api.test', port }, undefined, client).catch((error: unknown) => { refusal = error })
  await waitFor('it is refused', () => refusal instanceof EgressRefusal, 5_000)
})
