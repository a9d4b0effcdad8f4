import type { ApprovalDetail, ApprovalItem } from '@toolyard/contract'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { list, reach } from '../jobs/submission.ts'
import type { Client } from '../support/client.ts'
import { waitFor } from '../support/condition.ts'
import { createService, makeKeys } from '../support/service.ts'
import { comesTo, killApiAtEachCommand, killWorkerAtEachCommand } from './doomed-process.ts'
import { checkRun, runsOf, stampFiles } from './stamp.ts'

const { keys, API_KEYS_JSON } = makeKeys({ approver: { role: 'approver' } })
const schema = { type: 'object', properties: { mark: { type: 'string' }, sec: { type: 'string' } }, required: ['mark'] }
const program = stampFiles['tools/bin/stamp']
const service = await createService(t, {
  files: { ...stampFiles, 'tools/bin/changing': program },
  tools: ['stamp', 'changing'].map(name => ({ name, schema, command: [`./tools/bin/${name}`], approval: 'required' })),
  env: {
    API_KEYS_JSON,
    MAX_QUEUES: '1000'
  },
  aof: true,
  workers: 0
})
const { client, redis } = service

async function hold (to: Client, queue: string, tool = 'stamp', sec = '0'): Promise<string> {
  return (await to.call(tool, { mark: queue, sec }, { queue })).job_id ?? ''
}

async function decide (to: Client, decision: 'approve' | 'deny', held: ApprovalDetail): Promise<number> {
  return (await to.decide(held, decision, { key: keys.approver })).status
}

async function approve (id: string): Promise<void> {
  if (await decide(client, 'approve', await client.held(id)) !== 200) throw new Error(`${id} is not approved`)
}

async function heldIn (queue: string): Promise<string[]> {
  const { body } = await client.request<{ approvals: ApprovalItem[] }>(`/v1/approvals?queue=${queue}`)
  return body.approvals.map(({ job_id: id }) => id)
}

const runs = (mark: string): number => runsOf(service).get(mark) ?? 0

t.test('promise 12 an API process that is killed at any command of a submission leaves a held call, or none', { timeout: 300_000 }, async t => {
  await killApiAtEachCommand(t, service, 'submit', 1, {
    before: async () => '',
    act: async (to, _id, queue) => await hold(to, queue),
    check: async (_id, queue, about) => {
      const { jobs: [job] } = await list(client, `?queue=${queue}`)
      t.same(await heldIn(queue), job === undefined ? [] : [job.id], about)
      t.equal(runs(queue), 0, about)
      if (job === undefined) return
      t.equal(job.status, 'held', about)
      await approve(job.id)
      await reach(client, job.id, 'succeeded')
      t.equal(runs(queue), 1, about)
    }
  })
})

for (const decision of ['approve', 'deny'] as const) {
  t.test(`promise 12 an API process that is killed at any command of a decision (${decision}) has decided, or not`, { timeout: 300_000 }, async t => {
    const shown = new Map<string, ApprovalDetail>()
    const say = async (to: Client, id: string): Promise<number> => await decide(to, decision, shown.get(id) ?? await client.held(id))
    await killApiAtEachCommand(t, service, decision, 3, {
      before: async queue => {
        const id = await hold(client, queue)
        shown.set(id, await client.held(id))
        return id
      },
      act: say,
      check: async (id, queue, about) => {
        if ((await client.held(id)).approval.state === 'held') {
          t.equal(runs(queue), 0, about)
          t.equal(await say(client, id), 200, about)
        }
        const job = await reach(client, id, 'succeeded', 'failed')
        t.match(job, decision === 'approve' ? { status: 'succeeded', attempts: 1 } : { status: 'failed', attempts: 0, error: { code: 'APPROVAL_DENIED' } }, `${about}: ${JSON.stringify(job)}`)
        t.equal(runs(queue), decision === 'approve' ? 1 : 0, about)
        t.equal(await say(client, id), 200, `${about}: the same word again changes nothing`)
        t.same(await heldIn(queue), [], about)
      }
    })
  })
}

t.test('promise 12 when a worker is killed at any command of an approved call, it runs once, or its state says that its worker was lost', { timeout: 400_000 }, async t => {
  await killWorkerAtEachCommand(t, service, 'run', 3, {
    before: async queue => await hold(client, queue),
    act: approve,
    isDone: ({ status }) => status === 'succeeded',
    check: async (id, queue, about) => { checkRun(t, service, await comesTo(service, id, about, 'succeeded', 'failed'), queue) }
  })
})

t.test('promise 12 when a worker is killed at any command of a call that is to be held again, it is held again, and runs once', { timeout: 400_000 }, async t => {
  let changes = 0
  await killWorkerAtEachCommand(t, service, 'changed', 3, {
    open: async () => async () => { await writeFile(join(service.dir, 'tools/bin/changing'), `${program}# ${++changes}\n`) },
    before: async queue => await hold(client, queue, 'changing'),
    act: approve,
    isDone: ({ status }) => status === 'succeeded' || status === 'held',
    check: async (id, queue, about) => {
      const { approval } = await waitFor(`${about}: it is held again`, async () => {
        const now = await client.held(id)
        return now.approval.changed !== null && now
      }, 30_000)
      t.match(approval, { state: 'held', changed: /program changed/ }, about)
      t.equal(runs(queue), 0, about)
      t.same(await heldIn(queue), [id], about)
      await approve(id)
      t.match(await reach(client, id, 'succeeded', 'failed'), { status: 'succeeded' }, about)
      t.equal(runs(queue), 1, about)
    }
  })
})

t.test('promise 12 a held call outlives the death of Redis when it is held, approved, and while it runs', { timeout: 120_000 }, async t => {
  const restart = async (): Promise<void> => {
    process.kill(redis.pid(), 'SIGKILL')
    await redis.stop()
    await redis.start()
    await waitFor('the API is ready', async () => (await client.request('/ready')).status === 200)
  }
  const id = await hold(client, 'restarted', 'stamp', '2')
  const shown = await client.held(id)
  await restart()
  t.same(await client.held(id), shown)
  t.equal(await decide(client, 'approve', shown), 200)
  await restart()
  t.equal((await client.held(id)).approval.state, 'approved')
  await service.startWorker()
  await waitFor('it runs', () => runs('restarted') === 1)
  await restart()
  checkRun(t, service, await reach(client, id, 'succeeded', 'failed'), 'restarted')
  t.equal(runs('restarted'), 1)
})
