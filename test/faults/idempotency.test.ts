import t from 'tap'
import { createClient } from '../support/client.ts'
import { waitFor } from '../support/condition.ts'
import { createService, testKeys } from '../support/service.ts'
import { entries, programs } from '../e2e/tools.ts'
import { list, post, reach } from '../jobs/submission.ts'
import { plainRedis } from '../support/connection.ts'

const service = await createService(t, { files: programs, tools: entries })
const { client } = service
const redis = plainRedis(t, service.redis)

const withKey = (key: string): { headers: Record<string, string> } => ({ headers: { 'idempotency-key': key } })
const type = 'agentcli.echo'

t.test('RC23 fifty simultaneous requests over two API processes make one job', async t => {
  const second = createClient((await service.startApi()).address, testKeys.admin)
  for (let round = 0; round < 4; round++) {
    const tag = `storm-${round}`
    const answers = await Promise.all(Array.from({ length: 50 }, async (_, index) => await waitFor('an answer', async () => {
      const answer = await post([client, second][index % 2] ?? client, { type, tags: [tag] }, withKey(tag))
      // On a machine that is busy enough, Redis seems to be away; that is what the key is for.
      return answer.status !== 503 && answer
    })))
    t.equal(new Set(answers.map(answer => answer.body.job.id)).size, 1)
    t.ok(answers.filter(answer => answer.status === 201).length <= 1, 'at most one request made it')
    t.equal((await list(client, `?tag=${tag}`)).count, 1)
  }
})

t.test('fault 25 an add that timed out but landed, repeated with the same key: one job', async t => {
  await post(client, { type }, withKey('warm-up'))
  process.kill(service.redis.pid(), 'SIGSTOP')
  const lost = await post(client, { type, tags: ['landed'] }, withKey('landed'))
  process.kill(service.redis.pid(), 'SIGCONT')
  t.equal(lost.status, 503)
  const again = await waitFor('Redis is back', async () => {
    const answer = await post(client, { type, tags: ['landed'] }, withKey('landed'))
    return answer.status < 500 && answer
  })
  await reach(client, again.body.job.id, 'succeeded')
  t.equal((await list(client, '?tag=landed')).count, 1)
})

t.test('fault 25 a process that dies between taking the key, adding and confirming leaves no second job', async t => {
  const body = { type, tags: ['crash'] }
  const made = await post(client, body, withKey('crash'))
  const { id } = await reach(client, made.body.job.id, 'succeeded')
  const key = await waitFor('the key is held', async () => {
    for (const name of await redis.keys('toolyard:once:*')) if ((await redis.hget(name, 'text'))?.includes(id) === true) return name
    return undefined
  })
  const job = { id, type, data: { tool: 'echo', arguments: {}, timeoutSec: 30, tags: ['crash'], keyName: 'admin' }, maxAttempts: 1 }
  const asIfDiedAfterAdding = async (): Promise<void> => {
    await redis.hdel(key, 'confirmed')
    await redis.hset(key, 'text', JSON.stringify([{ job }]))
  }
  await asIfDiedAfterAdding()
  const afterAdding = await post(client, body, withKey('crash'))
  t.equal(afterAdding.body.job.id, id)
  t.match(afterAdding.body.job, { status: 'succeeded', attempts: 1 })
  t.equal(await redis.hget(key, 'confirmed'), '1')

  await asIfDiedAfterAdding()
  await redis.del(`toolyard:{default}:${id}`)
  await redis.zrem('toolyard:{default}:completed', id)
  const afterRemoval = await post(client, body, withKey('crash'))
  t.equal(afterRemoval.status, 409, 'it may have run')
  t.match(afterRemoval.body, { ok: false, error: { code: 'CONFLICT', message: new RegExp(id), details: { job_id: id } } })

  await redis.del(`toolyard:{default}:${id}:made`)
  const beforeAdding = await post(client, body, withKey('crash'))
  t.equal(beforeAdding.body.job.id, id, 'the job gets the id that was settled')
  t.equal((await reach(client, id, 'succeeded')).attempts, 1)
})
