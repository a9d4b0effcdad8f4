import t from 'tap'
import { createService } from '../support/service.ts'
import { entries, programs } from '../e2e/tools.ts'

t.test('many requests that wait at the same time cause no warning of a leak by Node.js', async t => {
  const { api, workers, client } = await createService(t, { files: programs, tools: entries, env: { WORKER_CONCURRENCY: '12' } })
  const answers = await Promise.all(Array.from({ length: 24 }, () => client.call('nap', { ms: 100 })))
  t.same(answers.filter(({ ok }) => !ok), [])
  // The log is lines of JSON.
  for (const app of [api, ...workers]) t.same((await app.output()).split('\n').filter(line => !/^(\{.*)?$/.test(line)), [])
})
