import { createCallbackMetrics, createMetrics } from '@toolyard/runtime/metrics'
import t from 'tap'
import type { Test } from 'tap'
import type { CallbackBody } from '@toolyard/contract'
import { createCallbackSender, type CallbackSenderOptions } from '@toolyard/worker'
import { startWebServer } from '../builtin/web-server.ts'
import { collectGarbage } from '../support/garbage.ts'
import { freePort } from '../support/redis-process.ts'
import { secret, startReceiver } from './receiver.ts'

type Lookup = NonNullable<CallbackSenderOptions['lookup']>
type Outcome = Awaited<ReturnType<ReturnType<typeof createCallbackSender>>>

const body: CallbackBody = { id: 'x', type: 'y', status: 'succeeded', attempts: 1, max_attempts: 1, result: null, error: null, updated_at: '2026-01-01T00:00:00.000Z' }
const toLoopback: Lookup = (_host, _options, callback) => { callback(null, [{ address: '127.0.0.1', family: 4 }]) }

/** Sends by a policy that allows everything but addresses inside, unless told otherwise. */
async function send (url: string, options: Partial<CallbackSenderOptions> = {}, allowPrivate = false): Promise<Outcome> {
  const sender = createCallbackSender({ policy: { allowlist: ['*'], allowHttp: true, allowPrivate }, secret, ...options })
  return await sender({ url: new URL(url), deliveryId: 'd', body, sentAt: Date.now(), signal: new AbortController().signal })
}

t.test('fault 44 private addresses are refused at the connection, however they are written or named', async t => {
  const receiver = await startReceiver(t)
  const { port } = new URL(receiver.url)
  for (const host of ['127.0.0.1', '2130706433', '0x7f.1', '[::1]', '[::ffff:127.0.0.1]', '169.254.169.254', '10.1.2.3', '0.0.0.0', '[fd00::1]', '[fe80::1]', '192.168.0.1', '100.64.0.1']) {
    t.match(await send(`http://${host}:${port}/`), { kind: 'refused', reason: /^address not allowed: / }, host)
  }
  t.same(await send(`http://name.test:${port}/`, { lookup: toLoopback }), { kind: 'refused', reason: 'address not allowed: name.test is not a public host' })
  t.match(await send(`http://name.test:${port}/`, { lookup: toLoopback }, true), { kind: 'delivered', status: 204 })
  t.equal(receiver.received.length, 1)
})

t.test('RC33 a receiver that does not answer in time, or is away, is a failure, whose text doesn\'t name the path', async t => {
  // A time limit that nothing holds is gone with the garbage.
  const silent = await startWebServer(t, collectGarbage)
  t.same(await send(`${silent.url}/slow`, { timeoutMs: 200 }, true), { kind: 'failed', reason: 'no answer within 200 ms' })
  t.same(await send(`http://127.0.0.1:${await freePort()}/secret-path`, {}, true), { kind: 'failed', reason: 'ECONNREFUSED' })
  t.match(await send('http://name.test/', { lookup: (_host, _options, callback) => { callback(Object.assign(new Error('no'), { code: 'ENOTFOUND' }), []) } }), { kind: 'failed', reason: 'ENOTFOUND' })
})

t.test('RC33 an endless answer is given up, and only 200 to 299 accepts', async t => {
  t.same(await send(`${await endless(t, 200)}/`, {}, true), { kind: 'delivered', status: 200 })
  t.same(await send(`${await endless(t, 500)}/`, {}, true), { kind: 'failed', reason: 'status 500' })
  const receiver = await startReceiver(t, { '/moved': [302], '/gone': [410] })
  t.same(await send(`${receiver.url}/moved`, {}, true), { kind: 'failed', reason: 'status 302' })
  t.same(await send(`${receiver.url}/gone`, {}, true), { kind: 'failed', reason: 'status 410' })
  t.notOk(receiver.received.some(({ path }) => path === '/elsewhere'))
})

t.test('attempts are counted by their result', async t => {
  const registry = createMetrics()
  const { sent } = createCallbackMetrics(registry)
  for (const result of ['failed', 'failed', 'delivered']) sent(result)
  t.match(await registry.metrics(), /result="delivered"\} 1\n.*result="failed"\} 2\n.*result="given_up"\} 0\n/)
})

async function endless (t: Test, status: number): Promise<string> {
  const { url } = await startWebServer(t, (_request, response) => {
    response.writeHead(status)
    const timer = setInterval(() => { response.write('x'.repeat(10_000)) }, 1)
    response.on('close', () => { clearInterval(timer) })
  })
  return url
}
