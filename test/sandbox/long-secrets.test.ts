import t from 'tap'
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
    await client.request(`/v1/secrets/${name}`, { method: 'PUT', body: { value: `${at}${'漢'.repeat(65_500)}` } })
  }
  const growth = await growthMb(worker?.child.pid ?? 0, async () => {
    const results = await Promise.all(Array.from({ length: 24 }, async () => await client.call('wait', {}, { wait_ms: 60_000 })))
    for (const result of results) t.match(result, { ok: true, output: '***REDACTED***' })
  })
  t.ok(growth < 300, 'a worker grows by what one of them needs', { growth })
  t.match(await client.call('many'), { ok: false, error: { code: 'TOOL_UNAVAILABLE', message: 'the secrets of this tool have more than 262144 characters together: too many to hide' } })
})
