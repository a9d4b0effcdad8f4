import { createServer } from 'node:net'
import t from 'tap'
import { listening } from '../support/listening.ts'
import { growthMb } from '../support/memory-growth.ts'
import { createService } from '../support/service.ts'
import { withoutBox } from './boxed-tools.ts'

const skip = await withoutBox()
/** Five of them are more than a call may have. */
const names = ['one', 'two', 'three', 'four', 'five']
const uses = (count: number): object => Object.fromEntries(names.slice(0, count).map(name => [name.toUpperCase(), { secret: name, as: 'file' }]))

void t.test('promise 6: calls at once with the same long secrets keep once what these are hidden in, and no call has too many', { skip }, async t => {
  const { client, workers: [worker] } = await createService(t, {
    tools: [
      { name: 'wait', command: ['/bin/sh', '-c', 'sleep 2; head -c 3000 "$FOUR"'], permissions: [], secrets: uses(4), timeoutSec: 60 },
      { name: 'many', command: ['/bin/true'], permissions: [], secrets: uses(5) }
    ],
    env: { SANDBOX: 'require', SECRETS_KEY: 'ab'.repeat(32), WORKER_CONCURRENCY: '24' }
  })
  for (const [at, name] of names.entries()) {
    await client.request(`/v1/secrets/${name}`, { method: 'PUT', body: { value: `${at}${'漢'.repeat(24_500)}` } })
  }
  const growth = await growthMb(worker?.child.pid ?? 0, async () => {
    const results = await Promise.all(Array.from({ length: 24 }, async () => await client.call('wait', {}, { wait_ms: 60_000 })))
    for (const result of results) t.match(result, { ok: true, output: '***REDACTED***' })
  })
  t.ok(growth < 150, 'a worker grows by what one of them needs', { growth })
  t.match(await client.call('many'), { ok: false, error: { code: 'TOOL_UNAVAILABLE', message: 'the secrets of this tool have more than 98304 characters together, too many to hide: give it smaller ones, or fewer' } })
})

void t.test('promise 6: so do requests of HTTP tools', async t => {
  // Servers of Node refuse headers that are so long.
  const api = createServer(socket => {
    socket.once('data', () => { setTimeout(() => { socket.end('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ndone') }, 2_000) })
    socket.resume().on('error', () => {})
  })
  const origin = `http://127.0.0.1:${await listening(t, api)}`
  const { client, workers: [worker] } = await createService(t, {
    tools: [{ name: 'ask', http: { method: 'GET', url: `${origin}/`, headers: Object.fromEntries(names.slice(0, 4).map(name => [`x-${name}`, { secret: name }])) }, timeoutSec: 60 }],
    env: { HTTP_PRIVATE_HOSTS: '127.0.0.1', SECRETS_KEY: 'ab'.repeat(32), WORKER_CONCURRENCY: '48' }
  })
  for (const [at, name] of names.entries()) await client.request(`/v1/secrets/${name}`, { method: 'PUT', body: { value: `${at}${'é/'.repeat(12_200)}` } })
  const growth = await growthMb(worker?.child.pid ?? 0, async () => {
    const results = await Promise.all(Array.from({ length: 48 }, async () => await client.call('ask', {}, { wait_ms: 60_000 })))
    for (const result of results) t.match(result, { ok: true, output: 'done' })
  })
  t.ok(growth < 250, 'a worker grows by what one of them needs', { growth })
})
