import { dropUnread } from '@toolyard/runtime'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { waitFor } from '../support/condition.ts'
import { listening } from '../support/listening.ts'

const lookMs = 20
/** More than what the kernel keeps of a connection. */
const large = Buffer.alloc(64 * 2 ** 20)

async function serve (
  t: Test, answer: (response: ServerResponse) => void, patienceMs: number
): Promise<{ open: () => Promise<Socket>, count: () => Promise<number> }> {
  const server = createServer((_, response) => { answer(response) })
  dropUnread(server, { patienceMs, lookMs })
  const port = await listening(t, server)
  return {
    async open () {
      const client = connect(port, '127.0.0.1')
      client.on('error', () => {})
      await once(client, 'connect')
      client.pause()
      client.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
      return client
    },
    count: promisify(server.getConnections.bind(server))
  }
}

await t.test('connections whose clients never read their answers are ended', async t => {
  const { open, count } = await serve(t, response => { response.end(large) }, 100)
  await Promise.all(Array.from({ length: 20 }, () => open()))
  await waitFor('all are gone', async () => await count() === 0)
})

await t.test('a stream that nobody reads is ended, too', async t => {
  const { open, count } = await serve(t, response => {
    const timer = setInterval(() => { response.write('x'.repeat(2 ** 20)) }, 5)
    response.once('close', () => { clearInterval(timer) })
  }, 200)
  await open()
  await waitFor('it is gone', async () => await count() === 0)
})

await t.test('who reads slowly, or waits for an answer, stays', async t => {
  let looks = 0
  const { open, count } = await serve(t, response => {
    looks += 1
    if (looks === 1) Readable.from(endless()).pipe(response)
  }, 1_500)
  const slow = await open()
  await waitFor('the first is being answered', () => looks === 1)
  const waiting = await open()
  let bytes = 0
  slow.on('data', chunk => {
    bytes += chunk.length
    slow.pause()
  })
  // Far less than what is there, over several times its patience.
  const timer = setInterval(() => { slow.resume() }, 2)
  t.teardown(() => { clearInterval(timer) })
  const begin = performance.now()
  await waitFor('more time than it is given', () => performance.now() - begin > 4_000 || slow.destroyed)
  t.ok(bytes > 0)
  t.same([slow.destroyed, waiting.destroyed, await count()], [false, false, 2])
})

function * endless (): Generator<Buffer> {
  for (;;) yield large.subarray(0, 2 ** 16)
}
