import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { createService, testKeys } from '../support/service.ts'
import { entries, programs } from './tools.ts'

const { api } = await createService(t, { files: programs, tools: entries, workers: 0 })
const path = '/v1/agent-tools/invoke-batch'

/** Sends all of a body before it reads, as many clients do; resolves with the first line of the answer. */
async function sendFirst (head: string, body: Buffer): Promise<string> {
  const { hostname, port } = new URL(api.address)
  const socket = connect(Number(port), hostname)
  socket.pause()
  try {
    await new Promise((resolve, reject) => {
      socket.once('error', reject).once('close', () => { reject(new Error('closed')) })
      socket.write(`POST ${path} HTTP/1.1\r\nhost: localhost\r\n${head}\r\n\r\n`)
      socket.write(body, resolve)
    })
    const answered = once(socket, 'data') as Promise<[Buffer]>
    socket.resume()
    const [answer] = await answered
    return answer.toString().split('\r\n', 1)[0] ?? ''
  } finally {
    socket.destroy()
  }
}

t.test('R34 a client that sends a large body before it reads gets the answer', async t => {
  const body = Buffer.alloc(8_000_000, 'x')
  const json = 'content-type: application/json\r\ncontent-length: 8000000'
  for (const connection of ['close', 'keep-alive']) {
    const end = `\r\nconnection: ${connection}`
    t.match(await sendFirst(`x-api-key: ${testKeys.admin}\r\n${json}${end}`, body), / 413 /, connection)
    t.match(await sendFirst(`x-api-key: wrong\r\n${json}${end}`, body), / 401 /, connection)
    t.match(await sendFirst(`x-api-key: ${testKeys.admin}\r\n${json.replace('json', 'xml')}${end}`, body), / 415 /, connection)
  }
  const chunk = Buffer.concat([Buffer.from((8_000_000).toString(16) + '\r\n'), body, Buffer.from('\r\n0\r\n\r\n')])
  t.match(await sendFirst(`x-api-key: ${testKeys.admin}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked`, chunk), / 413 /)
})

t.test('R34 a client that announces a large body and sends little of it gets an answer', async t => {
  t.match(await sendFirst(`x-api-key: ${testKeys.admin}\r\ncontent-type: application/json\r\ncontent-length: 8000000\r\nconnection: close`, Buffer.alloc(10)), / 413 /)
})

t.test('a body that is not UTF-8 is refused, not changed', async t => {
  const json = JSON.stringify({ calls: [{ call_id: 'a', name: 'echo', arguments: { text: 'für' } }] })
  for (const body of [Buffer.from(json, 'latin1'), Buffer.from(json, 'utf16le'), gzipSync(json), Buffer.concat([Buffer.from(json), Buffer.of(0xff)])]) {
    for (const address of [path, '/v1/jobs', '/mcp']) {
      const answer = await fetch(api.address + address, { method: 'POST', headers: { 'x-api-key': testKeys.admin, 'content-type': 'application/json', accept: 'application/json, text/event-stream' }, body })
      t.equal(answer.status, 400, address)
      t.match(await answer.text(), /Request body is not (UTF-8: send JSON in UTF-8, and not compressed|valid JSON)/)
    }
  }
})

t.test('X28 bytes that are no HTTP request get the documented body', async t => {
  const { hostname, port } = new URL(api.address)
  const send = (head: string): Promise<string> => new Promise(resolve => {
    const socket = connect(Number(port), hostname, () => { socket.write(head) })
    let reply = ''
    socket.on('data', chunk => { reply += chunk.toString() }).on('close', () => { resolve(reply) }).on('error', () => {})
  })
  const cases: Array<[head: string, status: number, message: string]> = [
    ['NONSENSE\r\n\r\n', 400, 'This is no valid HTTP request'],
    [`POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: -1\r\n\r\n`, 400, 'This is no valid HTTP request'],
    [`POST ${path} HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${testKeys.admin}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nZZ\r\n`, 400, 'This is no valid HTTP request'],
    [`GET /health HTTP/1.1\r\nhost: localhost\r\nx-long: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'The request line and its headers are too long'],
    ['GET /health HTTP/1.1\r\n\r\n', 400, 'The header Host is missing'],
    ['GET /health HTTP/1.1\r\nhost: localhost\r\nexpect: wonders\r\n\r\n', 417, 'The header Expect may only ask for 100-continue']
  ]
  for (const [head, status, message] of cases) {
    const [line = '', body = ''] = (await send(head)).split('\r\n\r\n')
    const [, id] = /^x-request-id: ([0-9a-f-]{36})$/m.exec(line) ?? []
    t.match(line, new RegExp(`^HTTP/1\\.1 ${status} `))
    t.same(JSON.parse(body), { ok: false, error: { code: 'VALIDATION_ERROR', message, details: {} }, request_id: id })
  }
})

t.test('a request line with the whole address reaches what the path alone does', async t => {
  const { hostname, port } = new URL(api.address)
  const send = async (method: string, address: string, body = ''): Promise<string> => {
    const headers = { 'x-api-key': testKeys.admin, 'content-type': 'application/json', 'content-length': body.length }
    const sent = request({ hostname, port, method, path: address, headers }).end(body)
    const [answer] = await once(sent, 'response') as [IncomingMessage]
    return `${answer.statusCode} ${await text(answer)}`
  }
  t.match(await send('PUT', 'http://toolyard.example/v1/files/notes/a.txt', 'hi'), /^201 .*"path":"notes\/a\.txt"/)
  for (const before of ['', 'http://toolyard.example', 'HTTPS://toolyard.example:8443']) t.equal(await send('GET', `${before}/v1/files/notes/a.txt`), '200 hi', before)
  t.match(await send('GET', 'http://toolyard.example?x=1'), /^(200|503) /)
  for (const name of ['.', '..', '%2e%2E']) t.match(await send('PUT', `/v1/secrets/${name}`, '{"value":"v"}'), /^400 .*The name of a secret must match/, name)
})
