import { Approvals, heldJob, JobCanceller, JobReader, OutputStore } from '@toolyard/queue'
import { approvalEventsKey, newJobId, openJobsKey, upkeepKey } from '@toolyard/store'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { startPool } from '../support/pool.ts'
import { startTestRedis } from '../support/redis.ts'

/* What the upkeep has to do for people who are told of held calls. */

const retention = { ageSec: 60, count: 1_000 }
const server = await startTestRedis(t)
const { redis, directory, queues } = await startPool(t, server)
const jobs = new JobReader({ redis, directory, queues, outputs: new OutputStore(redis, retention) })
const approvals = new Approvals({ redis, queues, jobs, canceller: new JobCanceller(redis, queues) })

interface Wishes { tenant?: string, callbackUrl?: string, approvers?: number }

async function hold (count: number, { approvers = 1, ...more }: Wishes = {}): Promise<string[]> {
  const added = Array.from({ length: count }, () => heldJob(
    { id: newJobId(), type: 'x', data: { tool: 'x', arguments: {}, timeoutSec: 1, tags: [], keyName: 'k', ...more } },
    { approvers, self: false, expiresSec: 60 }, { entry: 'e', program: null, key: '' }
  ))
  for (let at = 0; at < count; at += 100) await queues.add('q', added.slice(at, at + 100))
  return added.map(({ id }) => id)
}

async function commands (name: string): Promise<number> {
  return Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(await redis.info('commandstats'))?.[1] ?? 0)
}

t.test('thousands of held calls of which nobody is told are read by no upkeep', async t => {
  const before = await commands('hmget')
  await hold(3_000)
  await waitFor('the upkeep is through', async () => await redis.zcard(approvalEventsKey('k')) === 0, 10_000)
  t.ok(await commands('hmget') - before < 1_000, `${await commands('hmget') - before} reads`)
})

t.test('a decision about something else leaves nothing to be told', async t => {
  const [id = ''] = await hold(1)
  await waitFor('the upkeep is through', async () => await redis.zcard(approvalEventsKey('k')) === 0)
  const call = await jobs.held('q', id)
  if (call === undefined) throw new Error('it is not held')
  const { result } = await approvals.decide(call, { key: 'boss', decision: 'approve', digest: 'f'.repeat(64) }, async () => true)
  t.equal(result, 'changed')
  t.equal(await redis.zcard(approvalEventsKey('k')), 0)
})

t.test('who is told of held calls doesn\'t wait for thousands of held calls of another tenant', async t => {
  const [many, callbackUrl] = [3_000, 'https://hooks.example.com/']
  await hold(many, { tenant: 'noisy', callbackUrl })
  const before = await queues.callbacks.count('@noisy')
  await hold(1, { tenant: 'quiet', callbackUrl })
  await waitFor('the callback of the other tenant is posted', async () => await queues.callbacks.count('@quiet') === 1, 60_000)
  const meanwhile = await queues.callbacks.count('@noisy') - before
  t.ok(meanwhile < many / 3, `${meanwhile} of ${many} callbacks of the first tenant were posted before`)
  await waitFor('all are posted', async () => await queues.callbacks.count('@noisy') === many, 60_000)
  await waitFor('no owner has events left', async () => await redis.exists(approvalEventsKey()) === 0)
})

t.test('the second decision about a call is told of, though an upkeep looks at it before it is noted', async t => {
  const [id = ''] = await hold(1, { tenant: 'two', callbackUrl: 'https://hooks.example.com/', approvers: 2 })
  const told = async (event: string, count: number): Promise<void> => {
    await waitFor(`${count} times ${event}`, async () => (
      (await redis.zrange(openJobsKey('@callbacks @two'), '0', '-1')).filter(each => each.startsWith(`${id}.${event}.`)).length === count
    ))
  }
  const decide = async (key: string): Promise<string> => {
    const call = await jobs.held('q', id)
    if (call === undefined) throw new Error('it is not held')
    return (await approvals.decide(call, { key, decision: 'approve', digest: call.approval.digest }, async () => true)).result
  }
  await told('approval.requested', 1)
  t.equal(await decide('first'), 'held')
  await told('approval.decided', 1)
  await waitFor('a turn of the upkeep is over', async () => await redis.exists(approvalEventsKey()) === 0)
  await waitFor('the next one is near', async () => await redis.pttl(upkeepKey('held-events')) < 100)
  const run = redis.eval.bind(redis) as (...args: unknown[]) => Promise<unknown>
  redis.eval = async (...args: unknown[]) => {
    const answer = await run(...args)
    if (!args.includes(approvalEventsKey()) || !args.includes(`${id} q approval.decided own`)) return answer
    await waitFor('an upkeep has its turn', async () => await redis.zscore(approvalEventsKey(), '@two') !== '0')
    // Of the same: the upkeep looks at the call with the second command from now on.
    for (let more = 0; more < 20; more++) await redis.ping()
    return answer
  }
  t.teardown(() => { redis.eval = run })
  t.equal(await decide('second'), 'approved')
  await told('approval.decided', 2)
})

t.test('events that an older release has entered are told of', async t => {
  const [id = ''] = await hold(1, { tenant: 'older', callbackUrl: 'https://hooks.example.com/' })
  const isPosted = async (): Promise<boolean> => await queues.callbacks.count('@older') === 1
  await waitFor('it is posted', isPosted, 60_000)
  await redis.del(openJobsKey('@callbacks @older'))
  t.notOk(await isPosted())
  const older = { 'toolyard:approval-events': '', 'toolyard:{approval-events}:@older': '@older' }
  for (const [key, owner] of Object.entries(older)) {
    if (owner !== '') await redis.zadd('toolyard:{approval-events}', 0, owner)
    await redis.zadd(key, Date.now(), `${id} q approval.requested own`)
    await waitFor(`it is posted for the entry in ${key}`, isPosted, 60_000)
    await waitFor('nothing of it is left', async () => await redis.exists(key, approvalEventsKey(owner)) + await redis.exists('toolyard:{approval-events}') === 0)
    await redis.del(openJobsKey('@callbacks @older'))
  }
})

t.test('events are told of while workers of an older release, which don\'t know them, have the turns of their own', async t => {
  // As often as they may.
  const turns = setInterval(() => { for (const name of ['approvals', 'approval-events']) void redis.set(upkeepKey(name), '1', 'PX', 900) }, 200)
  t.teardown(() => { clearInterval(turns) })
  await hold(1, { tenant: 'newer', callbackUrl: 'https://hooks.example.com/' })
  await waitFor('it is posted', async () => await queues.callbacks.count('@newer') === 1, 60_000)
})

t.test('an event that an older release enters while those before it are taken is told of', async t => {
  const [id = ''] = await hold(1, { tenant: 'both', callbackUrl: 'https://hooks.example.com/' })
  const isPosted = async (): Promise<boolean> => await queues.callbacks.count('@both') === 1
  await waitFor('it is posted', isPosted)
  await redis.del(openJobsKey('@callbacks @both'))
  const [owners, own] = ['toolyard:{approval-events}', 'toolyard:{approval-events}:@both']
  const enter = async (): Promise<void> => {
    await redis.multi().zadd(own, Date.now(), `${id} q approval.requested own`).zadd(owners, 'NX', 0, '@both').exec()
  }
  const range = redis.zrange.bind(redis) as (...args: unknown[]) => Promise<string[]>
  let looks = 0
  redis.zrange = async (...args: unknown[]) => {
    const found = await range(...args)
    // Its owner has none, as far as the upkeep knows.
    if (args[0] === own && ++looks === 1) await enter()
    return found
  }
  t.teardown(() => { redis.zrange = range })
  await redis.zadd(owners, 0, '@both')
  await waitFor('it is posted', isPosted)
  await waitFor('nothing of it is left', async () => await redis.exists(owners) === 0)
})
