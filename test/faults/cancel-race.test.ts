import t from 'tap'
import { cancel, list, read, submit } from '../jobs/submission.ts'
import { waitFor } from '../support/condition.ts'
import { plainRedis } from '../support/connection.ts'
import { createService } from '../support/service.ts'

const service = await createService(t, { workers: 2 })
const { client } = service
const redis = plainRedis(t, service.redis)

t.test('X25 a job that is cancelled while it ends has one final state, and every reader gets that one', async t => {
  const rounds = 200
  const ends = { cancelled: 0, succeeded: 0 }
  for (let begun = 0; begun < rounds; begun += 20) {
    await Promise.all(Array.from({ length: 20 }, async (_, index) => {
      const early = index % 2 === 0
      // A read ends at once, a search takes a while: on any machine there are cancels that come first and some that come last.
      const job = await submit(client, early ? { type: 'tools.file_search', input: { query: 'readme' }, queue: 'race' } : { type: 'data.file_read', input: { path: 'README.md' }, queue: 'race' })
      if (!early) await new Promise(resolve => setTimeout(resolve, 10 * index))
      const answer = await cancel(client, job.id)
      const end = answer.status === 200 ? 'cancelled' : 'succeeded'
      ends[end]++
      t.equal((await read(client, job.id)).status, end)
    }))
  }
  await waitFor('all workers are done', async () => await redis.llen('toolyard:{race}:active') === 0)
  const statuses = []
  for (let query = '?queue=race&limit=200'; statuses.length < rounds;) {
    const page = await list(client, query)
    statuses.push(...page.jobs.map(job => job.status))
    if (page.next_cursor === null) break
    query = `?queue=race&limit=200&cursor=${page.next_cursor}`
  }
  t.ok(ends.cancelled > 0 && ends.succeeded > 0, JSON.stringify(ends))
  t.same({ cancelled: statuses.filter(status => status === 'cancelled').length, succeeded: statuses.filter(status => status === 'succeeded').length }, ends)
  t.equal(await redis.zcard('toolyard:{race}:completed'), ends.succeeded)
  t.equal(await redis.zcard('toolyard:{race}:failed'), ends.cancelled)
})
