import { heldJob, type JobQueues } from '@toolyard/queue'
import { callbackQueue, jobKey, newJobId, openCallbacksKey, approvalEventsKey, openJobsKey, queueKey } from '@toolyard/store'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { startPool } from '../support/pool.ts'
import { startTestRedis } from '../support/redis.ts'

/* What a master took right before it was lost, its successor doesn't know; the next command goes to the successor. */

const { redis, queues } = await startPool(t, await startTestRedis(t), { onError: () => {} })
const data = { tool: 'x', arguments: {}, timeoutSec: 1, tags: [], keyName: 'k', callbackUrl: 'https://hooks.example.com/' }

/** The next callback that is posted is as if only a lost master had it. @returns the ids of all that are posted from now on */
function loseNext (): string[] {
  const outbox = Object.getPrototypeOf(queues.callbacks) as JobQueues['callbacks']
  const posted: string[] = []
  // eslint-disable-next-line @typescript-eslint/unbound-method -- It is called on the same outbox.
  const { add } = outbox
  outbox.add = async function (callback, id, owner) {
    await add.call(this, callback, id, owner)
    if (posted.push(id) === 1) await redis.del(jobKey(callbackQueue, id), ...['wait', 'prioritized', 'marker'].map(part => queueKey(callbackQueue, part)))
  }
  t.teardown(() => { outbox.add = add })
  return posted
}

t.test('a callback that only a lost master had is posted again, for the end of a job and for a held call', async t => {
  const held = heldJob({ id: newJobId(), type: 'x', data }, { approvers: 1, self: false, expiresSec: 60 }, { entry: 'e', program: null, key: '' })
  const cases = { 'the end of a job': { id: newJobId(), type: 'x', data }, 'a held call': held }
  for (const [what, job] of Object.entries(cases)) {
    const posted = loseNext()
    t.same(await queues.add('q', [job]), new Map())
    await waitFor(`the callback about ${what} is posted`, () => posted.length > 0)
    const [id = ''] = posted
    await waitFor(`the callback about ${what} is there`, async () => await redis.exists(jobKey(callbackQueue, id)) === 1)
    t.ok(id.startsWith(job.id))
    await waitFor('nothing is left open', async () => await redis.exists(openCallbacksKey, approvalEventsKey('k')) === 0)
  }
})

t.test('thousands of entries of an older release are all taken, though those that were taken leave holes', async () => {
  const older = 'toolyard:callbacks:open'
  const entries = Array.from({ length: 9_000 }, () => `${newJobId()} q`)
  await redis.sadd(older, ...entries)
  await waitFor('all are taken, and removed, as there are no such jobs', async () => await redis.exists(older, openCallbacksKey) === 0, 60_000)
})

t.test('a job that can\'t be read holds up no callbacks of others', async () => {
  const url = 'https://hooks.example.com/'
  const posted = async (): Promise<number> => await queues.callbacks.count('others')
  const made = Array.from({ length: 20 }, () => ({ id: newJobId(), type: 'x', data: { ...data, keyName: 'others', callbackUrl: url } }))
  const [broken, ...whole] = made
  t.same(await queues.add('q', made), new Map())
  await waitFor('all have ended, and are posted', async () => await posted() === made.length && await redis.exists(openCallbacksKey) === 0)
  // As if those who settled them had died before that.
  await redis.del(openJobsKey('@callbacks others'))
  await redis.hset(jobKey('q', broken?.id ?? ''), 'data', '{')
  await redis.sadd(openCallbacksKey, ...made.map(({ id }) => `${id} q`))
  await waitFor('those of the others are posted', async () => await posted() === whole.length)
  await redis.srem(openCallbacksKey, `${broken?.id ?? ''} q`)
})
