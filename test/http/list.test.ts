import t from 'tap'
import { injectService } from '../support/injected.ts'
import { testKeys } from '../support/service.ts'
import { waitFor } from '../support/condition.ts'
import { entries, programs } from '../e2e/tools.ts'
import { cancel, list, reach, submit } from '../jobs/submission.ts'
import { plainRedis } from '../support/connection.ts'

const service = await injectService(t, { files: programs, tools: entries, env: { JOB_RETENTION_COUNT: '30' } })
const { client } = service
const redis = plainRedis(t, service.redis)
const echo = 'agentcli.echo'

t.test('RC24 the newest job is first; each filter keeps what fits it, and they combine', async t => {
  const a = await submit(client, { type: echo, queue: 'list-a', tags: ['red', 'round'] })
  const b = await submit(client, { type: 'agentcli.fail', queue: 'list-b', tags: ['red'] })
  const c = await submit(client, { type: echo, queue: 'list-a', delay_ms: 60_000 })
  await reach(client, a.id, 'succeeded')
  await reach(client, b.id, 'failed')
  const ids = async (query: string): Promise<string[]> => (await list(client, query)).jobs.map(job => job.id)
  t.same(await ids(''), [c.id, b.id, a.id])
  t.same(await ids('?queue=list-a'), [c.id, a.id])
  t.same(await ids('?status=queued'), [c.id])
  t.same(await ids('?status=failed'), [b.id])
  t.same(await ids('?status=running'), [])
  t.same(await ids('?tag=red'), [b.id, a.id])
  t.same(await ids('?tag=red&type=agentcli.echo&status=succeeded&queue=list-a'), [a.id])
  t.same(await ids('?tag=re'), [])
  t.same(await ids('?queue=no-such-queue'), [])
  const { jobs: [failed], count } = await list(client, '?status=failed')
  t.equal(count, 1)
  t.match(failed, { id: b.id, type: 'agentcli.fail', tool: 'fail', queue: 'list-b', priority: 5, attempts: 1, max_attempts: 1, tags: ['red'], error: { code: 'TOOL_FAILED' } })
  t.notOk('input' in (failed ?? {}), 'what can be large is read at the job itself')
})

t.test('a job is found by its tool, the key that submitted it, the code of its error, its worker and when it was created', async t => {
  const first = await submit(client, { type: echo, queue: 'found' }, { key: testKeys.admin })
  const done = await reach(client, first.id, 'succeeded')
  const failed = await reach(client, (await submit(client, { type: 'agentcli.fail', queue: 'found' })).id, 'failed')
  const absent = await reach(client, (await submit(client, { type: 'agentcli.absent', queue: 'found' })).id, 'failed')
  const late = await submit(client, { type: echo, queue: 'found', delay_ms: 60_000 })
  await cancel(client, late.id)
  const ids = async (query: string): Promise<string[]> => (await list(client, `?queue=found${query}`)).jobs.map(job => job.id)
  t.same(await ids('&tool=echo'), [late.id, done.id])
  t.same(await ids('&tool=ech'), [])
  t.same(await ids('&key=admin&tool=fail'), [failed.id])
  t.same(await ids('&key=reader'), [])
  t.same(await ids('&code=TOOL_FAILED'), [failed.id])
  t.same(await ids(`&code=${absent.error?.code}`), [absent.id])
  t.same(await ids('&code=JOB_CANCELLED'), [late.id])
  t.same(await ids('&status=cancelled'), [late.id])
  t.same(await ids('&code=TOOL_TIMEOUT'), [])
  t.same(await ids(`&worker=${done.worker}`), [absent.id, failed.id, done.id])
  t.same(await ids('&worker=nobody'), [])
  t.same(await ids(`&from=${failed.created_at}&to=${absent.created_at}`), [absent.id, failed.id])
  t.same(await ids('&to=2020-01-01T00:00:00Z'), [])
})

t.test('a job is found by a text of its arguments or error, by its session, and by the request that made it', async t => {
  const session = await client.session()
  const said = await submit(client, { type: echo, queue: 'texts', input: { text: 'Ärger im "Keller"\n', deep: ['Zeile'] } })
  const failed = await reach(client, (await submit(client, { type: 'agentcli.fail', queue: 'texts' })).id, 'failed')
  const own = await submit(client, { type: echo, queue: 'texts', session, tags: ['echo_tag'] })
  const batch = await client.batch([{ call_id: 'a', name: 'echo' }, { call_id: 'b', name: 'echo' }], { queue: 'texts' })
  const [first = '', second = ''] = batch.results.map(result => String(result.job_id))
  const ids = async (query: Record<string, string>): Promise<string[]> => {
    return (await list(client, `?${String(new URLSearchParams({ queue: 'texts', ...query }))}`)).jobs.map(job => job.id)
  }
  t.same(await ids({ text: 'Ärger im "kELLER"\n' }), [said.id])
  t.same(await ids({ text: 'zeile' }), [said.id])
  t.same(await ids({ text: failed.error?.message.slice(0, 30) ?? '' }), [failed.id])
  t.same(await ids({ text: 'tool_failed' }), [failed.id])
  t.same(await ids({ text: 'echo_tag' }), [], 'neither tags nor names are looked through')
  t.same(await ids({ session }), [own.id])
  const { request = '' } = (await client.request<{ job: { request?: string } }>(`/v1/jobs/${first}`)).body.job
  t.same(await ids({ request }), [second, first])
  t.match(await client.request('/v1/jobs?text='), { status: 400 })
  t.match(await client.request(`/v1/jobs?text=${'x'.repeat(201)}`), { status: 400, body: { error: { message: /'text' must have at most 200/ } } })
})

t.test('RC24 no job is missing or doubled between pages while jobs arrive', async t => {
  const queue = 'paged'
  const early = []
  for (let index = 0; index < 12; index++) early.push((await submit(client, { type: echo, queue, delay_ms: 60_000 })).id)
  const seen: string[] = []
  let query = `?queue=${queue}&limit=5`
  for (let page = 0; page < 10; page++) {
    const { jobs, next_cursor: next } = await list(client, query)
    seen.push(...jobs.map(job => job.id))
    await submit(client, { type: echo, queue, delay_ms: 60_000 })
    if (next === null) break
    query = `?queue=${queue}&limit=${page === 0 ? 3 : 5}&cursor=${next}`
  }
  t.same(seen, early.reverse())
})

t.test('a page of all states reads only the records that it shows', async t => {
  for (let index = 0; index < 40; index++) await submit(client, { type: echo, queue: 'many', tags: ['many'], delay_ms: 60_000 })
  const readFor = async (query: string): Promise<number> => {
    await redis.config('RESETSTAT')
    await list(client, query)
    return Number(/cmdstat_hexists:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0)
  }
  t.ok(await readFor('?queue=many&limit=2') < 10)
  t.ok(await readFor('?tag=many&limit=2') < 10)
  t.equal((await list(client, '?tag=many&limit=200')).count, 40)
})

t.test('RC24 pages over several queues keep the order of creation', async t => {
  const made: string[] = []
  for (let index = 0; index < 9; index++) made.push((await submit(client, { type: echo, queue: `mix-${index % 3}`, tags: ['mixed'], delay_ms: 60_000 })).id)
  const first = await list(client, '?tag=mixed&limit=4')
  const second = await list(client, `?tag=mixed&limit=200&cursor=${first.next_cursor}`)
  t.same([...first.jobs, ...second.jobs].map(job => job.id), made.reverse())
  t.equal(second.next_cursor, null)
})

t.test('the oldest job is first where that is asked for, and jobs that arrive come behind', async t => {
  const queue = 'oldest'
  const made: string[] = []
  for (let index = 0; index < 7; index++) made.push((await submit(client, { type: echo, queue, delay_ms: 60_000 })).id)
  const first = await list(client, `?queue=${queue}&order=oldest&limit=4`)
  made.push((await submit(client, { type: echo, queue, delay_ms: 60_000 })).id)
  const second = await list(client, `?queue=${queue}&order=oldest&limit=200&cursor=${first.next_cursor}`)
  t.same([...first.jobs, ...second.jobs].map(job => job.id), made)
  t.equal(second.next_cursor, null)
  t.equal((await client.request(`/v1/jobs?queue=${queue}&cursor=${first.next_cursor}`)).status, 400, 'a cursor belongs to its order')
  const { next_cursor: cursor } = await list(client, `?queue=${queue}&limit=4`)
  t.same((await list(client, `?queue=${queue}&order=newest&cursor=${cursor}`)).count, 4, 'the newest first is the usual order')
})

t.test('a list has the beginning of the arguments of each job where it is asked for, with their digits, and not otherwise', async t => {
  const digits = await submit(client, { type: echo, queue: 'previews', input: { text: 'x' } })
  const long = await submit(client, { type: echo, queue: 'previews', input: { text: '😀'.repeat(200) } })
  const large = await submit(client, { type: echo, queue: 'previews', input: { text: 'y'.repeat(20_000) } })
  const { jobs } = await list(client, '?queue=previews&preview=true&order=oldest')
  t.same(jobs.map(({ id }) => id), [digits.id, long.id, large.id])
  t.same(jobs.map(({ input_preview: preview }) => preview), ['{"text":"x"}', `{"text":"${'😀'.repeat(55)}…`, '{…}'])
  t.notOk((await list(client, '?queue=previews')).jobs.some(job => 'input_preview' in job))
  t.match(await client.request('/v1/jobs?preview=1'), { status: 400, body: { error: { message: "'preview' must be true or false" } } })
  t.match(await client.request('/v1/bulk', { body: { action: 'cancel', filter: { queue: 'previews', preview: 'true' } } }), { status: 400 })
})

t.test('RC24 an unknown parameter, a bad size or a cursor of another query is a 400', async t => {
  const { next_cursor: cursor } = await list(client, '?queue=paged&limit=1')
  const cases: Array<[string, string | RegExp]> = [
    ...['0', '201', '-1', '1.5', 'many', '', '1e2', ' 5', '00001'].map((limit): [string, RegExp] => [`?limit=${encodeURIComponent(limit)}`, /^'limit' must be/]),
    ['?limit=5&limit=6', "'limit' must be given once, with a value"],
    ['?code=NO_SUCH', /^'code' must be one of: /],
    ...['yesterday', '2026-01-31', '99999-01-01T00:00:00Z', '2026-13-01T00:00:00Z'].map((from): [string, RegExp] => [`?from=${from}`, /^'from' must be a time/]),
    ...['2026-02-30T00:00:00Z', '2027-02-29T12:00:00%2B02:00', '2026-04-31T23:59:59.999Z'].map((to): [string, RegExp] => [`?to=${to}`, /^'to' is a day that there is not: \d{4}-\d\d-\d\d$/]),
    ['?status=done', "'status' must be one of: queued, held, running, input_required, succeeded, failed, cancelled"],
    ['?order=slowest', "'order' must be one of: newest, oldest"],
    ['?queue=UPPER', "'queue' must match ^[a-z0-9._:-]{1,80}$"],
    ['?colour=red', /^'colour' is not a known parameter/],
    ['?__proto__=red', /^'__proto__' is not a known parameter/],
    [`?cursor=${cursor}`, "'cursor' is not a cursor of this query"],
    [`?queue=paged&status=queued&cursor=${cursor}`, "'cursor' is not a cursor of this query"],
    [`?queue=paged&cursor=${cursor?.slice(1)}`, "'cursor' is not a cursor of this query"],
    ['?queue=paged&cursor=KzE', "'cursor' is not a cursor of this query: send it with what it came with, or leave it out"],
    ['?from=2026-02-01T00:00:00Z&to=2026-01-01T00:00:00Z', "'from' must not be later than 'to'"]
  ]
  for (const [query, message] of cases) {
    const answer = await client.request(`/v1/jobs${query}`)
    t.equal(answer.status, 400, query)
    t.match(answer.body, { ok: false, error: { code: 'VALIDATION_ERROR', message } })
  }
})

t.test('RC24, fault 36, fault 37 a key sees only its own queues, whatever it asks for', async t => {
  const own = await submit(client, { type: echo, queue: 'allowed', tags: ['whose'] })
  const foreign = await submit(client, { type: echo, queue: 'foreign', tags: ['whose'] })
  const key = testKeys.limited
  t.same((await list(client, '?tag=whose', { key })).jobs.map(job => job.id), [own.id])
  t.equal((await client.request(`/v1/jobs/${own.id}`, { key })).status, 200)
  t.same((await client.request(`/v1/jobs/${foreign.id}`, { key })).body['error'], { code: 'NOT_FOUND', message: 'Job not found' })
  for (const queue of ['foreign', 'no-such-queue', 'allowed.', 'allowed:']) {
    const refused = await client.request(`/v1/jobs?queue=${queue}`, { key })
    t.equal(refused.status, 403, queue)
    t.match(refused.body, { error: { code: 'FORBIDDEN', details: { allowed_queues: ['allowed'] } } })
  }
  t.equal((await client.request('/v1/jobs?queue=Allowed', { key })).status, 400)
  t.equal((await client.request('/v1/jobs?queue=allowed%00', { key })).status, 400)
  const { next_cursor: cursor } = await list(client, '?limit=1')
  for (const { queue } of (await list(client, `?cursor=${cursor}`, { key })).jobs) t.equal(queue, 'allowed', "another key's cursor opens nothing")
})

t.test('jobs that retention removed are no longer listed, and leave the index', async t => {
  const queue = 'kept'
  const calls = Array.from({ length: 20 }, (_, index) => ({ call_id: String(index), name: 'data_file_read', arguments: { path: 'README.md' } }))
  for (let round = 0; round < 4; round++) await client.batch(calls, { queue })
  t.equal((await list(client, `?queue=${queue}&limit=200`)).count, 30)
  t.equal(await redis.zcard('toolyard:{kept}:completed'), 30)

  // As if they had been made a day ago: the index drops an entry only when its job can't be about to come.
  const old = await redis.zrange('toolyard:{kept}:created', '0', '-1')
  await redis.del('toolyard:{kept}:created')
  await redis.zadd('toolyard:{kept}:created', ...old.flatMap(member => [0, `01000000${member.slice(8)}`]))
  t.equal(await redis.zcard('toolyard:{kept}:created'), 80)
  for (let round = 0; round < 6; round++) await client.batch(calls, { queue })
  await waitFor('the index has dropped the old entries', async () => !(await redis.zrange('toolyard:{kept}:created', '0', '-1')).some(member => member.startsWith('01000000')))
})

t.test('a job is listed though the index still has jobs that are gone', async t => {
  await redis.zadd('toolyard:{kept}:created', 0, '0197c9a5-0000-7000-8000-000000000000 ["x.y","y",[],5,30,1]')
  t.equal((await list(client, '?queue=kept&type=x.y')).count, 0)
})
