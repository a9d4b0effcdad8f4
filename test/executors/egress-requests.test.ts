import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { waitFor } from '../support/condition.ts'
import { egressProxy, type ProxyPlace } from './egress-proxy.ts'
import { anyCharacter } from '../support/any-character.ts'

const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

/** A host that keeps the bytes of each connection, and answers once it has read a head. */
async function recorded (t: Test): Promise<ProxyPlace & { connections: Buffer[][] }> {
  const connections: Buffer[][] = []
  const proxy = await egressProxy(t, socket => {
    const bytes: Buffer[] = []
    connections.push(bytes)
    socket.on('data', chunk => { bytes.push(chunk) }).once('data', () => { socket.write(answer) }).once('end', () => { socket.end() })
  })
  return { ...proxy, connections }
}

/** Sends bytes, ends its half when there is an answer or none comes soon, and gives what came back until the proxy closed. */
async function said (socket: Socket, ...parts: Array<string | Buffer>): Promise<string> {
  const back: Buffer[] = []
  socket.on('data', bytes => { back.push(bytes) })
  for (const part of parts) socket.write(part)
  // A request whose program ends its half before the answer is given up.
  await Promise.race([once(socket, 'data'), once(socket, 'close'), setTimeout(10)]).catch(() => {})
  socket.end()
  if (!socket.closed) await once(socket, 'close')
  return Buffer.concat(back).toString('latin1')
}

/** Sends bytes, and waits for an answer that holds a text. */
async function answered (socket: Socket, bytes: string, text: string): Promise<boolean> {
  let back = ''
  socket.on('data', chunk => { back += chunk.toString('latin1') }).write(bytes)
  return await waitFor('the answer has come', () => back.includes(text))
}

/** Why the bytes of one connection are not exactly one plain request to the host; undefined where they are. */
function faultOf (bytes: Buffer): string | undefined {
  const text = bytes.toString('latin1')
  const end = text.indexOf('\r\n\r\n')
  if (end === -1) return text === '' ? undefined : 'the head has no end'
  const [line = '', ...headers] = text.slice(0, end).split('\r\n')
  if (!/^[A-Z-]+ \/[\x21-\x7e\x80-\xff]* HTTP\/1\.1$/.test(line)) return `the line ${JSON.stringify(line)}`
  const odd = headers.find(header => !/^[!#$%&'*+.^_`|~\w-]+: [\t\x20-\x7e\x80-\xff]*$/.test(header))
  if (odd !== undefined) return `the header ${JSON.stringify(odd)}`
  const valuesOf = (name: string): string[] => headers.filter(header => header.toLowerCase().startsWith(`${name}: `)).map(header => header.slice(name.length + 2))
  if (valuesOf('host').join() !== 'api.test') return `the hosts ${valuesOf('host').join()}`
  const [lengths, codings] = [valuesOf('content-length'), valuesOf('transfer-encoding')]
  if (lengths.length + codings.length > 1) return 'two lengths'
  const body = text.slice(end + 4)
  if (codings.length === 1) return /^(?:(?:[1-9a-f][0-9a-f]*\r\n[^]*)*0\r\n\r\n)?$/.test(body) || isBroken(body) ? undefined : 'more than one body in pieces'
  return body.length <= Number(lengths[0] ?? 0) ? undefined : `${body.length} bytes of a body`
}

/** A body in pieces that the program did not end. */
function isBroken (body: string): boolean {
  return !body.includes('\r\n0\r\n\r\n') && !body.startsWith('0\r\n\r\n')
}

const own = 'Host: api.test\r\n'
const hidden = 'GET /hidden HTTP/1.1\r\nHost: other.test\r\n\r\n'

t.test('a request that can be read in two ways is refused, and what hides behind it never reaches the host', async t => {
  const { program, connections } = await recorded(t)
  const post = `POST http://api.test/ HTTP/1.1\r\n${own}`
  const attempts = {
    'two lengths': `${post}Content-Length: 3\r\nContent-Length: 0\r\n\r\n${hidden}`,
    'a list of lengths': `${post}Content-Length: 0, 3\r\n\r\n${hidden}`,
    'a length with a sign': `${post}Content-Length: +3\r\n\r\nabc${hidden}`,
    'a length and pieces': `${post}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
    'pieces and a length': `${post}Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n${hidden}`,
    'pieces that are not last': `${post}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${hidden}`,
    'another coding': `${post}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${hidden}`,
    'a space before the colon': `${post}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${hidden}`,
    'a header that goes on in the next line': `${post}Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n${hidden}`,
    'a length of a piece with a sign': `${post}Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n${hidden}`,
    'a length of a piece beyond all numbers': `${post}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n\r\n${hidden}`,
    'a bare carriage return': `${post}X: a\rContent-Length: 30\r\n\r\n${hidden}`,
    'a bare line feed': `${post}X: a\nContent-Length: 30\n\n${hidden}`,
    'a NUL': `${post}X: a\0b\r\n\r\n${hidden}`,
    'a second host': `${post}Host: other.test\r\n\r\n`,
    'a split host': `POST http://api.test/ HTTP/1.1\r\nHost: api.test\r\n .evil\r\n\r\n${hidden}`,
    'no host': 'POST http://api.test/ HTTP/1.1\r\n\r\n',
    'a user in the line': `GET http://api.test@other.test/ HTTP/1.1\r\n${own}\r\n`,
    'another host in the line': `GET http://other.test/ HTTP/1.1\r\n${own}\r\n`,
    'the path of another proxy': `GET other.test:80 HTTP/1.1\r\n${own}\r\n`,
    'a line with a line break': `GET http://api.test/\r\nHost: other.test HTTP/1.1\r\n${own}\r\n`
  }
  for (const [name, bytes] of Object.entries(attempts)) {
    const before = connections.length
    const back = await said(await program(), bytes)
    const seen = connections.slice(before).map(parts => Buffer.concat(parts))
    t.strictSame(seen.map(faultOf).filter(fault => fault !== undefined), [], name)
    t.notOk(seen.some(text => text.includes('/hidden')), name)
    t.match(back, /HTTP\/1\.1 40[03] /, name)
  }
})

t.test('whatever a program sends, the host gets nothing but whole requests of its own, each on a connection', async t => {
  const { program, connections, lookedUp } = await recorded(t)
  const piece = fc.constantFrom(
    'GET http://api.test/ HTTP/1.1\r\n', 'POST http://api.test/a HTTP/1.1\r\n', 'GET / HTTP/1.1\r\n', 'GET http://other.test/ HTTP/1.1\r\n', 'CONNECT api.test:80 HTTP/1.1\r\n', own, 'Host: other.test\r\n',
    'Content-Length: 3\r\n', 'content-length: 40\r\n', 'Transfer-Encoding: chunked\r\n', 'Transfer-Encoding: identity\r\n', 'Connection: content-length, host\r\n', 'Expect: 100-continue\r\n', 'Upgrade: h2c\r\n', 'X: y\r\n',
    '\r\n', '\r\n\r\n', '\n', '\r', '\0', ' ', '\t', ':', '0\r\n\r\n', '3\r\nabc\r\n', '3;x=y\r\nabc\r\n', 'abc', hidden
  )
  const stream = fc.tuple(fc.constantFrom('', `POST http://api.test/ HTTP/1.1\r\n${own}`, `CONNECT api.test:80 HTTP/1.1\r\n${own}\r\nPOST / HTTP/1.1\r\n${own}`), fc.array(piece, { maxLength: 14 }))
  await fc.assert(fc.asyncProperty(stream, fc.nat(400), async ([start, pieces], cut) => {
    const bytes = start + pieces.join('')
    connections.length = 0
    await said(await program(), bytes.slice(0, cut), bytes.slice(cut))
    const faults = connections.map(parts => faultOf(Buffer.concat(parts))).filter(fault => fault !== undefined)
    if (faults.length > 0) throw new Error(faults.join('; '))
  }), { numRuns: 400 })
  t.strictSame([...new Set(lookedUp)], ['api.test'])
})

const partsOfHosts = ['api.test', 'api', 'test', '.', '..', ':', '@', '%', '[', ']', '/', '#', '?', '127.0.0.1', '0x7f', '443', '80', 'secret', '\t', '\\', 'ａ']

t.test('no host that a CONNECT or a request of SOCKS may name is looked up, but for the one of the list', async t => {
  const { program, socksPort, lookedUp, connections } = await recorded(t)
  const host = fc.oneof(
    fc.string({ maxLength: 40 }), fc.string({ unit: anyCharacter, maxLength: 12 }),
    fc.array(fc.constantFrom(...partsOfHosts), { maxLength: 8 }).map(parts => parts.join(''))
  )
  await fc.assert(fc.asyncProperty(host, fc.constantFrom(':443', ':80', ':22', ''), async (name, port) => {
    await said(await program(), `CONNECT ${name}${port} HTTP/1.1\r\nHost: api.test\r\n\r\n`)
    const bytes = Buffer.from(name).subarray(0, 255)
    await said(await program(socksPort), Buffer.from([5, 1, 0, 5, 1, 0, 3, bytes.length]), bytes, Buffer.from([1, 187]))
  }), { numRuns: 200 })
  await fc.assert(fc.asyncProperty(fc.uint8Array({ maxLength: 60 }), async bytes => {
    await said(await program(socksPort), Buffer.from([5]), Buffer.from(bytes))
  }), { numRuns: 200 })
  t.strictSame(lookedUp.filter(name => name !== 'api.test'), [])
  t.strictSame(connections.flat(), [], 'nor is it told anything')
})

const spellings = [
  '127.0.0.1', '2130706433', '0x7f000001', '0x7f.1', '017700000001', '127.1', '127.0.0.1.', '１２７.0.0.1',
  '[::1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[0:0:0:0:0:ffff:127.0.0.1]'
]

t.test('addresses are refused in every spelling, and a name that has one inside gets no connection', async t => {
  const inside = new Map([
    ['a.test', '127.0.0.1'], ['b.test', '169.254.169.254'], ['c.test', '::ffff:10.0.0.1'], ['d.test', 'fd00::1'], ['e.test', '::1'], ['f.test', '0.0.0.0'],
    ['g.test', '64:ff9b::a00:1'], ['h.test', '2002:7f00:1::'], ['i.test', '168.63.129.16']
  ])
  let opened = 0
  const { program, lookedUp } = await egressProxy(t, () => { opened += 1 }, { hosts: ['*'], addressOf: name => inside.get(name) ?? '127.0.0.1' })
  for (const host of spellings) {
    t.match(await said(await program(), `CONNECT ${host}:443 HTTP/1.1\r\nHost: x\r\n\r\n`), /^HTTP\/1\.1 40[03] /, host)
  }
  t.strictSame(lookedUp, [], 'none is taken for a name')
  for (const [name, address] of inside) t.match(await said(await program(), `CONNECT ${name}:443 HTTP/1.1\r\nHost: x\r\n\r\n`), /^HTTP\/1\.1 403 [^]*its address is not public/, address)
  t.equal(opened, 0)
})

t.test('a name whose address changes is judged anew for each request, and connected to at the address that was judged', async t => {
  const addresses = ['8.8.8.8', '10.0.0.1']
  const { program, lookedUp } = await egressProxy(t, () => {}, { hosts: ['moves.test'], addressOf: () => addresses[lookedUp.length - 1] ?? '10.0.0.1' })
  const socket = await program()
  socket.write('GET http://moves.test/ HTTP/1.1\r\nHost: moves.test\r\n\r\n')
  await waitFor('it is looked up', () => lookedUp.length === 1)
  socket.destroy()
  t.match(await said(await program(), 'GET http://moves.test/ HTTP/1.1\r\nHost: moves.test\r\n\r\n'), /^HTTP\/1\.1 403 [^]*its address is not public/)
  t.equal(lookedUp.length, 2, 'once for each connection')
})

t.test('promise 10: a program that says half of a greeting of SOCKS holds up nobody', async t => {
  const { program, socksPort } = await recorded(t)
  for (const half of [[5], [5, 1, 0, 5], [5, 1, 2, 1, 4], [5, 1, 0, 5, 1, 0, 3, 9, 97]]) (await program(socksPort)).write(Buffer.from(half))
  t.ok(await answered(await program(), `GET http://api.test/ HTTP/1.1\r\n${own}\r\n`, 'HTTP/1.1 200 OK'))
  const slow = await program(socksPort)
  for (const byte of [5, 1, 0, 5, 1, 0, 3, 8, ...Buffer.from('api.test'), 0, 80]) slow.write(Buffer.from([byte]))
  t.ok(await answered(slow, `GET / HTTP/1.1\r\n${own}\r\n`, 'HTTP/1.1 200 OK'), 'one that comes byte by byte is served')
})

t.test('an answer that no server may give is a 502 for the program, and the proxy goes on', async t => {
  for (const line of ['000 Zero', '099 Low', '101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x', '999 High']) {
    const { program } = await egressProxy(t, socket => { socket.once('data', () => { socket.end(`HTTP/1.1 ${line}\r\ncontent-length: 0\r\n\r\n`) }) })
    const expected = line.startsWith('999') ? 'HTTP/1.1 999 ' : 'HTTP/1.1 502 '
    t.ok(await answered(await program(), `GET http://api.test/ HTTP/1.1\r\n${own}\r\n`, expected), line)
  }
})

t.test('a host that answers nonsense in the midst of a large body, or more than its answer, ends that request alone', async t => {
  const answers = ['nonsense\r\n\r\n', 'HTTP/1.1 2x0 OK\r\n\r\n', 'HTTP/1.1 200 OK\r\nx: a\r\n b\r\ncontent-length: 0\r\n\r\n', 'HTTP/1.1 204 No\r\n\r\nmore', `${answer}${answer}`, 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx']
  for (const each of answers) {
    const { program } = await egressProxy(t, socket => { socket.once('data', () => { socket.write(each, () => { socket.destroy() }) }) })
    const socket = await program()
    socket.write(`POST http://api.test/ HTTP/1.1\r\n${own}Content-Length: 5000000\r\n\r\n`)
    socket.write(Buffer.alloc(5_000_000))
    t.ok(await Promise.race([once(socket, 'data'), once(socket, 'close')]).then(() => true), JSON.stringify(each))
    socket.destroy()
    const next = await program()
    next.write(`GET http://api.test/ HTTP/1.1\r\n${own}\r\n`)
    t.ok(await Promise.race([once(next, 'data'), once(next, 'close')]).then(() => true), 'the next request is served')
  }
})
