import { once } from 'node:events'
import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { waitFor } from '../support/condition.ts'
import { egressProxy, type ProxyPlace } from './egress-proxy.ts'

const secret = { placeholder: `tyd_placeholder_${'a1'.repeat(16)}`, value: 'value+of/the secret-0123456789' }
const own = 'Host: api.test\r\n'
const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

/** A host whose answer a test makes of each head that it reads. */
async function host (
  t: Test, answerTo: (head: string, socket: Socket) => void, of: Parameters<typeof egressProxy>[2] = { secret }
): Promise<ProxyPlace & { heads: string[] }> {
  const heads: string[] = []
  const proxy = await egressProxy(t, socket => {
    let read = ''
    socket.on('data', chunk => {
      read += chunk.toString('latin1')
      const end = read.indexOf('\r\n\r\n')
      if (end === -1) return
      const head = read.slice(0, end + 4)
      read = read.slice(end + 4)
      heads.push(head)
      answerTo(head, socket)
    })
  }, of)
  return { ...proxy, heads }
}

/** All that comes back until a text is in it, or the proxy closes. */
async function back (socket: Socket, bytes: string, until?: string): Promise<string> {
  let text = ''
  socket.on('data', chunk => { text += chunk.toString('latin1') }).write(bytes)
  await waitFor('it is answered', () => socket.closed || socket.readableEnded || (until !== undefined && text.includes(until)))
  socket.destroy()
  return text
}

t.test('of thousands of requests that come in one go on one connection, one is made at most, and the others are cut off', async t => {
  const { program, heads } = await host(t, (head, socket) => { if (head.includes('/next')) socket.end(answer) })
  const socket = await program()
  socket.write(`GET http://api.test/held HTTP/1.1\r\n${own}\r\n`.repeat(5_000))
  for (let next = 0; next < 20; next++) t.match(await back(await program(), `GET http://api.test/next HTTP/1.1\r\n${own}connection: close\r\n\r\n`, 'ok'), /200 OK/)
  t.ok(heads.filter(head => head.includes('/held')).length <= 1)
})

t.test('ten requests that come in one go are answered in their order, one after the other', async t => {
  let open = 0
  const { program, heads } = await host(t, (_head, socket) => {
    t.equal(++open, 1)
    setTimeout(() => {
      open -= 1
      socket.end(answer)
    }, 5)
  })
  const asked = Array.from({ length: 10 }, (_, at) => `GET http://api.test/${at} HTTP/1.1\r\n${own}${at === 9 ? 'Connection: close\r\n' : ''}\r\n`)
  const text = await back(await program(), asked.join(''))
  t.equal(text.split('200 OK').length - 1, 10)
  t.strictSame(heads.map(head => head.split(' ')[1]), asked.map((_, at) => `/${at}`))
})

t.test('a value that a host repeats is hidden from the program, in headers, in pieces of a body, and in its forms; all else stays', async t => {
  const { value, placeholder } = secret
  const credentials = Buffer.from(`me:${value}`).toString('base64')
  const forms = [value, encodeURIComponent(value), Buffer.from(value).toString('base64'), credentials, value.replace('+', '\\u002B')]
  const body = forms.map(form => `value ${form.slice(0, -1)}x but ${form}`).join('|')
  const { program, heads } = await host(t, (_head, socket) => {
    socket.write(`HTTP/1.1 302 Found\r\nlocation: https://api.test/?token=${encodeURIComponent(value)}\r\nx-request-id: ${value}\r\ncontent-length: ${body.length}\r\n\r\n`)
    void (async () => {
      for (const letter of body) if (!socket.write(letter)) await once(socket, 'drain')
    })()
  })
  const asked = `GET http://api.test/ HTTP/1.1\r\n${own}X-Request-Id: ${placeholder}\r\nAuthorization: Basic ${Buffer.from(`me:${placeholder}`).toString('base64')}\r\n`
  const text = await back(await program(), `${asked}Accept-Encoding: gzip\r\nRange: bytes=3-4\r\nIf-Range: "x"\r\nConnection: close\r\n\r\n`)
  t.match(heads[0], value)
  t.match(heads[0], `Basic ${credentials}`)
  t.match(heads[0], /\r\naccept-encoding: identity\r\n/)
  t.notMatch(heads[0], /range|gzip/i)
  for (const form of forms) t.notOk(text.includes(form), form)
  t.match(text, `location: https://api.test/?token=${'*'.repeat(encodeURIComponent(value).length)}\r\n`)
  // The beginning of a form in base64 is a form as well.
  t.ok(text.includes(`value ${value.slice(0, -1)}x but ${'*'.repeat(value.length)}|`))
  t.equal(text.slice(text.indexOf('\r\n\r\n') + 4).length, body.length, 'the length stays')
})

t.test('a request without a secret is asked for and answered as it is', async t => {
  const packed = gzipSync('hello').toString('latin1')
  const { program, heads } = await host(t, (_head, socket) => { socket.end(Buffer.from(`HTTP/1.1 200 OK\r\nx: ${secret.value}\r\ncontent-encoding: gzip\r\ncontent-length: ${packed.length}\r\n\r\n${packed}`, 'latin1')) })
  const text = await back(await program(), `GET http://api.test/ HTTP/1.1\r\n${own}Accept-Encoding: gzip\r\nRange: bytes=0-9\r\nConnection: close\r\n\r\n`)
  t.match(heads[0], /Accept-Encoding: gzip\r\nRange: bytes=0-9\r\n/)
  t.ok(text.includes(`x: ${secret.value}\r\n`))
  t.ok(text.endsWith(packed))
})

t.test('placeholders that make a request too large are refused, and nothing of it reaches the host', async t => {
  const large = { placeholder: secret.placeholder, value: 'v'.repeat(8_192) }
  const { program, heads } = await host(t, (_head, socket) => { socket.end(answer) }, { secret: large })
  const asked = (count: number): string => `GET http://api.test/ HTTP/1.1\r\n${own}X: ${large.placeholder.repeat(count)}\r\nConnection: close\r\n\r\n`
  t.match(await back(await program(), asked(7)), /^HTTP\/1\.1 200 /)
  t.match(await back(await program(), asked(300)), /^HTTP\/1\.1 403 [^]*longer than 65536 characters/)
  t.equal(heads.length, 1)
})

t.test('a value is put nowhere but into whole headers of plain requests', async t => {
  const { placeholder, value } = secret
  const { program, heads } = await host(t, (_head, socket) => { socket.end(answer) })
  const [first, last] = [placeholder.slice(0, 20), placeholder.slice(20)]
  const line = `GET http://api.test/ HTTP/1.1\r\n${own}`
  const chunked = `POST http://api.test/ HTTP/1.1\r\n${own}Transfer-Encoding: chunked\r\n`
  const attempts = {
    'split over two headers': `${line}X: ${first}\r\nX: ${last}\r\nCookie: ${first}\r\nCookie: ${last}\r\n`,
    'split by a space': `${line}X: ${first} ${last}\r\n`,
    'in other letters': `${line}X: ${placeholder.toUpperCase()}\r\n`,
    'in the name of a header': `${line}${placeholder}: x\r\n`,
    'in a trailer': `${chunked}Trailer: X-Token\r\n\r\n1\r\na\r\n0\r\nX-Token: ${placeholder}\r\n`,
    'in the extension of a piece': `${chunked}\r\n1;x=${placeholder}\r\na\r\n0\r\n`,
    'in a header of the connection': `${line}Connection: close, x-hop\r\nX-Hop: ${placeholder}\r\nKeep-Alive: ${placeholder}\r\nTE: ${placeholder}\r\nProxy-Connection: ${placeholder}\r\n`,
    'in what it would change to': `${line}Connection: upgrade\r\nUpgrade: ${placeholder}\r\n`,
    'in Host': `GET http://api.test/ HTTP/1.1\r\nHost: ${placeholder}\r\n`,
    'in the line': `GET http://api.test/${placeholder} HTTP/1.1\r\n${own}`,
    'as the user of the proxy': `${line}Proxy-Authorization: ${placeholder}\r\n`
  }
  for (const [name, bytes] of Object.entries(attempts)) {
    const before = heads.length
    await back(await program(), `${bytes}\r\n`, '\r\n\r\n')
    t.notOk(heads.slice(before).some(head => head.includes(value)), name)
    t.ok(heads.slice(before).every(head => !/^(?:upgrade|te|keep-alive|x-hop|proxy-|trailer)/im.test(head)), name)
  }
})

t.test('a length behind thousands of headers counts: what is in the body is no request', async t => {
  const seen: string[] = []
  const { program } = await egressProxy(t, socket => {
    const at = seen.push('') - 1
    socket.on('data', chunk => { seen[at] += chunk.toString('latin1') }).once('end', () => { socket.end() })
    setTimeout(() => { socket.write(answer) }, 200)
  })
  const hidden = 'GET /hidden HTTP/1.1\r\nHost: other.test\r\n\r\n'
  const many = 'x: y\r\n'.repeat(2_100)
  for (const [framing, body] of [[`Content-Length: ${hidden.length}`, hidden], ['Transfer-Encoding: chunked', `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`]]) {
    for (const method of ['GET', 'DELETE', 'POST']) {
      seen.length = 0
      await back(await program(), `${method} http://api.test/ HTTP/1.1\r\n${own}${many}${framing}\r\n\r\n${body}`, 'ok')
      const [head = '', ...rest] = String(seen[0]).split('\r\n\r\n')
      t.equal(seen.length, 1)
      t.ok(head.toLowerCase().includes(String(framing).toLowerCase()) || !rest.join('').includes('/hidden'), `${method}, ${framing}`)
    }
  }
})

t.test('HTTP/2, a change of the protocol, names without end and headers on several lines are refused or answered in HTTP/1.1', async t => {
  const { program, heads } = await host(t, (_head, socket) => { socket.end(answer) })
  const token = `Authorization: ${secret.placeholder}\r\n`
  const line = `GET http://api.test/ HTTP/1.1\r\n${own}${token}`
  const tunnel = `CONNECT api.test:80 HTTP/1.1\r\n${own}\r\n`
  const settings = '\0\0\0\x04\0\0\0\0\0'
  for (const [name, bytes] of Object.entries({
    'prior knowledge': `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${settings}`,
    'a name without end': `${line}${'x'.repeat(20_000)}: y\r\n\r\n`,
    'thousands of headers': `${line}${'x: y\r\n'.repeat(9_000)}\r\n`,
    'a header on two lines': `${line}X: a\r\n b\r\n\r\n`
  })) {
    t.match(await back(await program(), bytes), /^HTTP\/1\.1 4\d\d /, name)
    t.notMatch(await back(await program(), `${tunnel}${bytes.replace('http://api.test', '')}`), / 200 OK/, `${name}, in a tunnel`)
  }
  t.strictSame(heads, [])
  for (const upgrade of ['h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__', 'websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13']) {
    t.match(await back(await program(), `${line}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: ${upgrade}\r\n\r\n`, 'ok'), /^HTTP\/1\.1 200 /)
  }
  t.match(await back(await program(), `POST http://api.test/ HTTP/1.1\r\n${own}${token}Expect: 100-continue\r\nContent-Length: 1\r\n\r\nx`, '\r\n\r\nok'), /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /)
  t.ok(heads.every(head => head.includes(secret.value) && !/^(?:upgrade|http2-settings)/im.test(head)))
})

t.test('a host that says that it goes on, without end, holds up nobody, and none of it reaches the program', async t => {
  const { program } = await host(t, (head, socket) => {
    if (head.includes('/next')) return void socket.end(answer)
    const flood = `HTTP/1.1 103 Early Hints\r\nlink: ${secret.value}\r\n\r\n`.repeat(200)
    const more = (): void => { while (!socket.destroyed && socket.write(flood)); }
    socket.on('drain', more)
    more()
  })
  const socket = await program()
  let text = ''
  socket.on('data', chunk => { text += chunk.toString('latin1') })
  socket.write(`GET http://api.test/flood HTTP/1.1\r\n${own}Authorization: ${secret.placeholder}\r\n\r\n`)
  for (let next = 0; next < 10; next++) t.match(await back(await program(), `GET http://api.test/next HTTP/1.1\r\n${own}Connection: close\r\n\r\n`, 'ok'), /200 OK/)
  t.equal(text, '')
  socket.destroy()
})
