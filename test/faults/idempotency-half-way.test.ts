import { orElse } from '@toolyard/contract/terms'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { list, post, reach, submit } from '../jobs/submission.ts'
import { createClient, type Answer, type Client } from '../support/client.ts'
import { waitFor } from '../support/condition.ts'
import { plainRedis } from '../support/connection.ts'
import { startRedisProxy } from '../support/redis-proxy.ts'
import { createService, testKeys } from '../support/service.ts'

/** Notes each of its runs. */
const noted = `#!/usr/bin/env node
let text = ''
process.stdin.on('data', chunk => { text += chunk })
process.stdin.on('end', () => { require('node:fs').appendFileSync('runs', JSON.parse(text || '{}').mark + '\\n') })
`
const service = await createService(t, {
  files: { 'tools/bin/noted': noted, 'tools/bin/raw': '#!/bin/sh\ncat >> raw\necho >> raw\n' },
  tools: [{ name: 'noted', schema: { type: 'object' }, command: ['./tools/bin/noted'] }, { name: 'raw', schema: { type: 'object' }, command: ['./tools/bin/raw'] }],
  env: { JOB_RETENTION_COUNT: '1', MAX_QUEUES: '1000' }
})
const { client } = service
const redis = plainRedis(t, service.redis)
const runs = (mark: string): number => {
  return orElse(() => readFileSync(join(service.dir, 'workspace/runs'), 'utf8').split('\n').filter(line => line === mark).length, 0)
}
const withKey = (key: string): { headers: Record<string, string> } => ({ headers: { 'idempotency-key': key } })

/** An API whose connections to Redis a test breaks. */
async function startBreakableApi (
  env: Record<string, string> = {}
): Promise<{ broken: Client, address: string, proxy: Awaited<ReturnType<typeof startRedisProxy>> }> {
  const proxy = await startRedisProxy(t, { path: service.redis.socket })
  const api = await (service).startApi({ REDIS_URL: proxy.url, ...env })
  return { broken: createClient(api.address, testKeys.admin), address: api.address, proxy }
}

/** Removes the finished job of a queue as retention does: when the next one ends. */
async function pushOut (queue: string, id: string): Promise<void> {
  const next = await submit(client, { type: 'agentcli.noted', queue, input: { mark: 'other' } })
  await reach(client, next.id, 'succeeded')
  await waitFor('the job was removed', async () => await redis.exists(`toolyard:{${queue}}:${id}`) === 0)
}

const requests: Array<{ name: string, send: (to: Client, mark: string, queue: string) => Promise<Answer> }> = [
  { name: 'job', send: async (to, mark, queue) => await post(to, { type: 'agentcli.noted', queue, input: { mark } }, withKey(mark)) },
  // One that isn't due at once is added in another way.
  { name: 'delayed', send: async (to, mark, queue) => await post(to, { type: 'agentcli.noted', queue, input: { mark }, delay_ms: 50 }, withKey(mark)) },
  { name: 'batch', send: async (to, mark, queue) => await to.request('/v1/agent-tools/invoke-batch', { ...withKey(mark), body: { queue, mode: 'async', calls: [{ call_id: 'a', name: 'noted', arguments: { mark } }] } }) }
]

for (const { name, send } of requests) {
  t.test(`RC23 a request (${name}) that breaks at any of its commands and is repeated after its job was removed runs once, and the answer names the old job`, { timeout: 300_000 }, async t => {
    const { broken, proxy } = await startBreakableApi()
    const ends = new Set<number>()
    for (let at = 1, isBroken = true; isBroken; at++) {
      for (const side of ['before', 'after'] as const) {
        const queue = `${name}-${at}-${side}`
        let commands = 0
        isBroken = false
        void proxy.breakAt(side, (_name, args) => args.some(arg => arg.includes('toolyard:once:') || arg.includes(`{${queue}}`)) && ++commands === at).then(() => { isBroken = true })
        await send(broken, queue, queue)
        proxy.mend()
        const [added] = (await list(client, `?queue=${queue}`)).jobs
        if (added !== undefined) {
          await reach(client, added.id, 'succeeded')
          await pushOut(queue, added.id)
        }
        const answer = await waitFor('the API has its connections again', async () => {
          const answer = await send(broken, queue, queue)
          return answer.status !== 503 && answer
        })
        const about = `${side} command ${at}`
        ends.add(answer.status)
        if (added === undefined) {
          t.ok([200, 201].includes(answer.status), `${about}: ${answer.text}`)
          await waitFor('it has run', () => runs(queue) === 1)
        } else if (name !== 'batch' || answer.status !== 200) {
          t.equal(answer.status, 409, `${about}: ${answer.text}`)
          t.match(answer.body, { ok: false, error: { code: 'CONFLICT', message: new RegExp(added.id) } }, about)
        }
        await send(client, queue, queue)
        await submit(client, { type: 'agentcli.noted', queue, input: { mark: `last-${queue}` } })
        await waitFor('what came later has run', () => runs(`last-${queue}`) === 1)
        t.equal(runs(queue), 1, `${about}: it ran once`)
      }
    }
    t.ok(ends.has(409), [...ends].join(' '))
  })
}

t.test('RC23 a repeated request finds the job that was made, also when the queue is full', async t => {
  const { broken, proxy } = await startBreakableApi({ MAX_QUEUE_DEPTH: '1' })
  const body = { type: 'agentcli.noted', queue: 'full', input: { mark: 'full' }, delay_ms: 60_000 }
  void proxy.breakAt('before', (_name, args) => args.some(arg => arg.includes('toolyard:once:')) && args.some(arg => arg.includes("'confirmed', '1'")))
  await post(broken, body, withKey('full'))
  proxy.mend()
  const [made] = (await list(client, '?queue=full')).jobs
  const again = await waitFor('the API has its connections again', async () => {
    const answer = await post(broken, body, withKey('full'))
    return answer.status !== 503 && answer
  })
  t.equal(again.status, 200, again.text)
  t.equal(again.body.job.id, made?.id)
  t.equal((await list(client, '?queue=full')).count, 1)
})

t.test('numbers that a double can\'t hold are in the job of a repeat whose first request broke off once it had its key', async t => {
  const { address, proxy } = await startBreakableApi()
  const args = '{"n":12345678901234567890,"2":1,"1":1.0}'
  const send = async (): Promise<Response> => await fetch(`${address}/v1/agent-tools/invoke-batch`, {
    method: 'POST',
    headers: { authorization: `Bearer ${testKeys.admin}`, 'content-type': 'application/json', 'idempotency-key': 'digits' },
    body: `{"mode":"async","queue":"digits","calls":[{"call_id":"a","name":"raw","arguments":${args}}]}`
  })
  const broken = proxy.breakAt('after', (_name, args) => args.some(arg => arg.includes('toolyard:once:')))
  await Promise.all([send().catch(() => {}), broken])
  proxy.mend()
  t.equal((await list(client, '?queue=digits')).jobs.length, 0)
  t.match(await waitFor('the API has its connections again', async () => {
    const answer = await send()
    return answer.status !== 503 && { status: answer.status, text: await answer.text() }
  }), { status: 200, text: /"job_id":/ })
  const [job] = (await list(client, '?queue=digits')).jobs
  await reach(client, job?.id ?? '', 'succeeded')
  t.equal(readFileSync(join(service.dir, 'workspace/raw'), 'utf8').trim(), args)
})
