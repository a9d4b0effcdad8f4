import t from 'tap'
import { injectService } from '../support/injected.ts'
import { entries, programs } from '../e2e/tools.ts'

t.test('any valid queue name is served, also one that is new', async t => {
  const { client } = await injectService(t, { files: programs, tools: entries })
  for (const queue of ['a:b.c_d-e', 'meta', '0', ':', 'x'.repeat(80)]) {
    t.same((await client.call('echo', { queue }, { queue, wait_ms: 5_000 })).output, { queue }, queue)
  }
})

t.test('a:b and a.b are different queues', async t => {
  const { client } = await injectService(t, { files: programs, tools: entries, workers: 0 })
  const ids = await Promise.all(['a:b', 'a.b'].map(async queue => (await client.batch([{ call_id: 'c', name: 'echo' }], { queue, mode: 'async' })).results[0]?.job_id))
  const queues = await Promise.all(ids.map(async id => (await client.request<{ job: { queue: string } }>(`/v1/jobs/${id}`)).body.job.queue))
  t.same(queues, ['a:b', 'a.b'])
})

t.test('the queue after the last that MAX_QUEUES allows is a clear error; known ones are served', async t => {
  const { client } = await injectService(t, { files: programs, tools: entries, env: { MAX_QUEUES: '2' } })
  t.equal((await client.call('echo', {}, { queue: 'one' })).ok, true)
  t.equal((await client.call('echo', {}, { queue: 'two' })).ok, true)
  const refused = await client.call('echo', {}, { queue: 'three' })
  t.equal(refused.error?.code, 'QUEUE_FULL')
  t.match(refused.error?.message, /'three'.*MAX_QUEUES/)
  t.equal((await client.call('echo', {}, { queue: 'one' })).ok, true)
})

t.test('a worker that is told its queues serves those alone', async t => {
  const { client } = await injectService(t, { files: programs, tools: entries, env: { WORKER_QUEUES: 'mine' } })
  t.equal((await client.call('echo', {}, { queue: 'mine' })).ok, true)
  t.equal((await client.call('echo', {}, { queue: 'other', wait_ms: 600 })).pending, true)
})
