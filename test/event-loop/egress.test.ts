import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { createCallTable, createConnector, createHttpProxy } from '@toolyard/executors'
import t from 'tap'
import { leavesLoopFree } from './longest-turn.ts'
import { listening } from '../support/listening.ts'

/** In a thread of its own: a host whose answer comes in pieces of one byte, and a program that asks it through the proxy. */
const others = `
const { createServer, connect } = require('node:net')
const { parentPort, workerData: { pieces, front } } = require('node:worker_threads')
const host = createServer(socket => {
  socket.on('error', () => {}).once('data', () => { socket.end('HTTP/1.1 200 OK\\r\\ntransfer-encoding: chunked\\r\\n\\r\\n' + '1\\r\\n1\\r\\n'.repeat(pieces) + '0\\r\\n\\r\\n') })
}).listen(0, '127.0.0.1', () => { parentPort.postMessage(host.address().port) })
parentPort.on('message', request => {
  const program = connect(front, '127.0.0.1').on('error', () => {}).on('close', () => { parentPort.postMessage(read) })
  let read = 0
  program.on('data', bytes => { read += bytes.length }).write(request)
})`

t.test('promise 10: neither a host nor a program holds up the proxy of a network with many small pieces', async t => {
  const calls = createCallTable(() => {})
  const gate = createConnector({
    rules: [{ host: 'api.test', port: undefined }], privateHosts: ['api.test'], calls, lookup: (_host, _options, callback) => { callback(null, [{ address: '127.0.0.1', family: 4 }]) }
  })
  let port = 0
  const proxy = createHttpProxy({ ...gate, open: async (target, ...rest) => await gate.open({ ...target, port }, ...rest) }, calls)
  const front = createServer({ allowHalfOpen: true }, client => { proxy.serve(client) })
  const thread = new Worker(others, { eval: true, workerData: { pieces: 60_000, front: await listening(t, front) } })
  t.teardown(async () => { proxy.close(); await thread.terminate() })
  const told = async (): Promise<number> => await new Promise(resolve => { thread.once('message', (number: number) => { resolve(number) }) })
  port = await told()
  const asks = async (request: string): Promise<number> => {
    thread.postMessage(request)
    return await told()
  }
  const head = 'GET http://api.test/ HTTP/1.1\r\nhost: api.test\r\n'
  await leavesLoopFree(t, 'an answer in 60,000 pieces', async () => { t.ok(await asks(`${head}connection: close\r\n\r\n`) > 60_000) })
  await leavesLoopFree(t, 'a request in 60,000 pieces', async () => { t.ok(await asks(`POST${head.slice(3)}connection: close\r\ntransfer-encoding: chunked\r\n\r\n${'1\r\n1\r\n'.repeat(60_000)}0\r\n\r\n`) > 0) })
  // Few are answered before the connection is cut off.
  await leavesLoopFree(t, '1,000 requests at once', async () => { t.ok(await asks('GET http://other.test/ HTTP/1.1\r\nhost: other.test\r\n\r\n'.repeat(1_000)) < 20_000) })
})

/** In a thread of its own: a program with many tunnels to a host, and one of both floods the other, which tells what it has read. */
const flood = `
const { createServer, connect } = require('node:net')
const { parentPort, workerData: { front, tunnels, isUpload } } = require('node:worker_threads')
const bytes = Buffer.alloc(1_048_576)
let read = 0
const count = part => { read += part.length }
const begin = socket => {
  const send = () => { while (socket.writable && socket.write(bytes)); }
  socket.on('drain', send)
  send()
}
const host = createServer(socket => {
  socket.on('error', () => {})
  if (isUpload) socket.on('data', count).write('hello')
  else socket.once('data', () => { begin(socket) })
}).listen(0, '127.0.0.1', () => { parentPort.postMessage(host.address().port) })
parentPort.once('message', () => {
  const target = '127.0.0.1:' + host.address().port
  for (let at = 0; at < tunnels; at++) {
    const program = connect(front, '127.0.0.1').on('error', () => {}).on('data', isUpload ? () => {} : count)
    program.once('data', () => {
      program.write('hello, there\\n')
      if (isUpload) begin(program)
    })
    program.write('CONNECT ' + target + ' HTTP/1.1\\r\\nhost: ' + target + '\\r\\n\\r\\n')
  }
  parentPort.on('message', () => { parentPort.postMessage(read) })
})`

for (const isUpload of [false, true]) {
  t.test(`promise 10: 250 tunnels of a program, through which ${isUpload ? 'it' : 'a host'} floods, hold up no proxy`, async t => {
    const calls = createCallTable(() => {})
    const rules: Array<{ host: string, port: number }> = []
    const proxy = createHttpProxy(createConnector({ rules, privateHosts: ['*'], calls }), calls)
    const front = createServer({ allowHalfOpen: true }, client => { proxy.serve(client) })
    const thread = new Worker(flood, { eval: true, workerData: { tunnels: 250, front: await listening(t, front), isUpload } })
    t.teardown(async () => { proxy.close(); await thread.terminate() })
    const told = async (): Promise<number> => await new Promise(resolve => { thread.once('message', (number: number) => { resolve(number) }) })
    rules.push({ host: '127.0.0.1', port: await told() })
    thread.postMessage('begin')
    const read = async (): Promise<number> => {
      thread.postMessage('read')
      return await told()
    }
    const readMore = async (megabytes: number): Promise<void> => {
      for (const before = await read(); await read() < before + megabytes * 1e6;) await sleep(10)
    }
    await readMore(50)
    await leavesLoopFree(t, '200 MB', async () => { await readMore(200) })
  })
}
