import { createServer } from 'node:http'
import t from 'tap'
import { listening } from '../support/listening.ts'
import { createService } from '../support/service.ts'
import { withoutBox } from '../sandbox/boxed-tools.ts'
import { turnEnvironment, turnsOf } from './service-turns.ts'

const skip = await withoutBox()
const body = Buffer.alloc(262_144, 'aé/+\'')
const api = createServer({ maxHeaderSize: 200_000 }, ({ url }, response) => { response.end(url === '/' ? body : body.subarray(0, 60_000)) })
const host = `127.0.0.1:${await listening(t, api)}`
/** As many texts as fit, each of which is written in many ways. */
const documentOf = (length: number, each: number): string => (
  JSON.stringify(Array.from({ length: Math.floor(length / (each + 5)) }, (_, index) => `aé/+'${index}`.padEnd(each, 'é\'+/')))
)

void t.test('promise 10: no secret that a tenant stores holds up the worker that runs its calls', { skip }, async t => {
  const env = { ...turnEnvironment(), SANDBOX: 'require', SECRETS_KEY: 'ab'.repeat(32), WORKER_CONCURRENCY: '8', HTTP_PRIVATE_HOSTS: '127.0.0.1' }
  const ask = `#!/bin/sh\nfor each in 1 2 3; do curl -sS -H "x-token: $TOKEN" -H "x-other: $TOKEN" http://${host}/ -o /dev/null & done; wait; echo done`
  const many = `#!/bin/sh\ncurl -sS --parallel --parallel-immediate --parallel-max 200 -H "x-token: $TOKEN" 'http://${host}/[1-200]' -o /dev/null; echo done`
  const entry = { permissions: [], network: [host], timeoutSec: 60 }
  const service = await createService(t, {
    files: { 'tools/bin/ask': ask, 'tools/bin/many': many },
    tools: [
      { ...entry, name: 'many', command: ['./tools/bin/many'], secrets: { TOKEN: { secret: 'short', hosts: [host] } } },
      { ...entry, name: 'ask', command: ['./tools/bin/ask'], secrets: { TOKEN: { secret: 'short', hosts: [host] } } },
      { name: 'http', description: 'Asks.', schema: { type: 'object' }, http: { method: 'GET', url: `http://${host}/http`, headers: { 'x-token': { secret: 'short' } }, query: [{ name: 'key', secret: 'long' }] } },
      { ...entry, name: 'has', command: ['/bin/echo', 'done'], secrets: { TOKEN: { secret: 'long', as: 'env' } } }
    ],
    env
  })
  const { client } = service
  const leavesLoopsFree = turnsOf(service, env)
  for (const [name, value] of Object.entries({ short: documentOf(7_000, 9), long: documentOf(50_000, 55) })) {
    t.equal((await client.request(`/v1/secrets/${name}`, { method: 'PUT', body: { value } })).status, 200)
  }
  for (const name of ['ask', 'http', 'has']) {
    await leavesLoopsFree(t, `four calls of ${name}`, async () => {
      const { results } = await client.batch(['1', '2', '3', '4'].map(id => ({ call_id: id, name })), { wait_ms: 60_000 })
      t.same(results.map(({ ok }) => ok), Array(4).fill(true), JSON.stringify(results).slice(0, 500))
    })
  }
  await leavesLoopsFree(t, '200 answers that come at once', async () => { t.match(await client.call('many'), { ok: true, output: 'done' }) })
})
