import { orElse } from '@toolyard/contract/terms'
import { JobCanceller, JobQueues, QueueDirectory } from '@toolyard/queue'
import { connectRedis, isConnected, queueKey } from '@toolyard/store'
import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { cancel, list, read, submit, type Job } from '../jobs/submission.ts'
import { waitFor } from '../support/condition.ts'
import { plainRedis } from '../support/connection.ts'
import { startRedisProxy } from '../support/redis-proxy.ts'
import { createService } from '../support/service.ts'

const service = await createService(t, {
  files: {
    'tools/bin/rest': '#!/bin/sh\nsleep 86413\n',
    'tools/bin/ask': '#!/bin/sh\necho \'{"$ask":{"text":"Which?","schema":{"type":"object"}}}\'\n',
    'workspace/workflows.yaml': [
      'workflows:', '  rests:', '    steps:', '      - {tool: rest}', '      - {tool: rest}',
      '  waits:', '    steps:', '      - {tool: held}', '      - {tool: ask}', ''
    ].join('\n')
  },
  tools: [
    { name: 'rest', schema: { type: 'object' }, command: ['./tools/bin/rest'], timeoutSec: 300 },
    { name: 'held', schema: { type: 'object' }, command: ['./tools/bin/rest'], approval: 'required' },
    { name: 'ask', schema: { type: 'object' }, command: ['./tools/bin/ask'], asks: true }
  ],
  env: { WORKER_CONCURRENCY: '4', MAX_QUEUES: '1000' },
  workers: 2
})
const { client, redis } = service
const together = 8

/** The state that a cancel met, and what became of the jobs. */
interface Case {
  jobs: string[]
  /** Whether its connection broke on the way. */
  isBroken: boolean
}

/** Cancels a job over a connection that breaks at the n-th command of the cancel, as if its process died there. */
async function cancelBroken (queue: string, id: string, at: number, side: 'before' | 'after'): Promise<boolean> {
  const proxy = await startRedisProxy(t, { path: redis.socket })
  const connection = connectRedis({ place: { kind: 'server', url: proxy.url } }, 'request', () => {})
  if (!await isConnected(connection, 5_000)) throw new Error('no connection')
  // BullMQ prepares itself at first use.
  const queues = new JobQueues(connection, new QueueDirectory(connection, 64), { ageSec: 3_600, count: 1_000 })
  await queues.open(queue).getJob(id)
  let commands = 0
  let isBroken = false
  void proxy.breakAt(side, () => ++commands === at).then(() => { isBroken = true })
  await new JobCanceller(connection, queues).cancel(queue, id).catch(() => {})
  connection.disconnect()
  return isBroken
}

async function runCase (queue: string, at: number, side: 'before' | 'after', makeJobs: (queue: string) => Promise<string[]>): Promise<Case> {
  const jobs = await makeJobs(queue)
  return { jobs, isBroken: await cancelBroken(queue, jobs[0] ?? '', at, side) }
}

/** Breaks a cancel at each of its commands, until one gets through; `check` looks at each case. */
async function atEveryCommand (
  name: string, makeJobs: (queue: string) => Promise<string[]>, check: (found: Case, about: string) => Promise<void>
): Promise<number> {
  for (let first = 1; ; first += together / 2) {
    const cases = await Promise.all(Array.from({ length: together }, async (_, index) => {
      const at = first + Math.floor(index / 2)
      const side = index % 2 === 0 ? 'before' : 'after'
      const found = await runCase(`${name}-${at}-${side}`, at, side, makeJobs)
      await check(found, `${side} command ${at}`)
      return found
    }))
    if (cases.some(found => !found.isBroken)) return first + together / 2
  }
}

async function startWorkflow (queue: string, workflow = 'rests', states = ['running', 'running']): Promise<string[]> {
  const { id } = await submit(client, { type: 'workflow.run', queue, timeout_sec: 300, input: { workflow } })
  const steps = await waitFor(`its steps are ${states.join(' and ')}`, async () => {
    const { jobs } = await list(client, `?queue=${queue}&tag=workflow-step`)
    return jobs.map(({ status }) => status).sort().join() === states.join() && jobs
  })
  return [id, ...steps.map(step => step.id)]
}

async function ends (ids: readonly string[]): Promise<Job[]> {
  return await waitFor('all jobs have ended', async () => {
    const jobs = await Promise.all(ids.map(id => read(client, id)))
    return jobs.every(job => ['cancelled', 'failed', 'succeeded'].includes(job.status)) && jobs
  }, 15_000)
}

const isCancelled = ({ status, error }: Job): boolean => status === 'cancelled' && error?.code === 'JOB_CANCELLED'

t.test('X25 when a cancel breaks at any of its commands and is repeated, the workflow and its steps are cancelled', { timeout: 300_000 }, async t => {
  const commands = await atEveryCommand('repeated', startWorkflow, async ({ jobs: [id = '', ...steps] }, about) => {
    t.equal((await cancel(client, id)).status, 200, about)
    for (const job of await Promise.all([id, ...steps].map(job => read(client, job)))) t.ok(isCancelled(job), `${about}: ${show(job)}`)
  })
  t.ok(commands > 8, `${commands} commands`)
})

t.test('X25 when a cancel breaks at any of its commands and is not repeated, the workflow and its steps are all cancelled, or none', { timeout: 300_000 }, async t => {
  await atEveryCommand('left', startWorkflow, async ({ jobs: [id = '', ...steps] }, about) => {
    // Only what Redis never heard of has no effect.
    if (about === 'before command 1') return void await cancel(client, id)
    for (const job of await ends([id, ...steps])) t.ok(isCancelled(job), `${about}: ${show(job)}`)
  })
})

t.test('X25 when the cancel of a workflow or of its held step breaks at any of its commands, no step waits for a person, nor is listed as if it did', { timeout: 300_000 }, async t => {
  const admin = plainRedis(t, redis)
  for (const [name, first] of [['waits', 0], ['waits-step', 2]] as const) {
    const make = async (queue: string): Promise<string[]> => {
      const [id = '', ...steps] = await startWorkflow(queue, 'waits', ['held', 'input_required'])
      const held = (await list(client, `?queue=${queue}&status=held`)).jobs[0]?.id ?? ''
      return first === 0 ? [id, ...steps] : [held]
    }
    await atEveryCommand(name, make, async ({ jobs: [id = '', ...steps] }, about) => {
      if (about === 'before command 1') return void await cancel(client, id)
      for (const job of await ends([id, ...steps])) t.ok(isCancelled(job), `${name}, ${about}: ${show(job)}`)
      const queue = (await read(client, id)).queue
      await waitFor(`${name}, ${about}: its index has none`, async () => (
        (await admin.zrange(queueKey(queue, 'held'), '0', '-1')).every(member => !member.startsWith(id))
      ), 15_000)
    })
  }
})

t.test('X25 a job that has lost workers is cancelled, though the canceller dies half way', { timeout: 120_000 }, async t => {
  for (const losses of [0, 1, 2]) {
    const queue = `lost-${losses}`
    const { id } = await submit(client, { type: 'agentcli.rest', queue })
    await waitFor('it runs', async () => (await read(client, id)).status === 'running')
    const admin = connectRedis({ place: { kind: 'server', url: redis.url } }, 'worker', () => {})
    t.teardown(() => { admin.disconnect() })
    if (losses > 0) await admin.hset(`toolyard:{${queue}}:${id}`, 'stc', losses)
    await cancelBroken(queue, id, 1, 'after')
    const [job] = await ends([id])
    t.ok(job !== undefined && isCancelled(job), `after ${losses} losses: ${job?.status}`)
    await waitFor('it is settled', async () => await admin.hexists(`toolyard:{${queue}}:${id}`, 'finishedOn') === 1, 15_000)
    t.ok(isCancelled(await read(client, id)), `after ${losses} losses, once it is settled: ${show(await read(client, id))}`)
  }
})

t.test('no process of a cancelled call is left', async t => {
  const left = (): string[] => readdirSync('/proc').filter(name => /^\d+$/.test(name) && commandLine(name) === 'sleep\u000086413\u0000')
  await waitFor('all are gone', () => left().length === 0, 5_000)
  t.same(left(), [])
})

function commandLine (pid: string): string {
  return orElse(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'), '')
}

function show ({ type, status, error }: Job): string {
  return `${type} ${status} ${error?.message ?? ''}`
}
