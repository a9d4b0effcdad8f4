import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { list, reach, read, submit, type Job } from '../jobs/submission.ts'
import { waitFor } from '../support/condition.ts'
import type { AppProcess } from '../support/processes.ts'
import { createService } from '../support/service.ts'

/** Notes each of its runs, then takes a moment. */
const noted = `#!/usr/bin/env node
let text = ''
process.stdin.on('data', chunk => { text += chunk })
process.stdin.on('end', () => {
  const args = JSON.parse(text)
  require('node:fs').appendFileSync('runs', args.mark + '\\n')
  setTimeout(() => process.stdout.write(JSON.stringify({ mark: args.mark })), args.ms)
})
`
const workflow = (tool: string, ms: number): string => `
    steps:
      - {name: a, tool: ${tool}, arguments: {mark: "\${run}-a", ms: ${ms}}}
      - {name: b, tool: ${tool}, arguments: {mark: "\${run}-b", ms: ${ms}, after: "\${a.mark}"}}
      - {name: c, tool: ${tool}, arguments: {mark: "\${run}-c", ms: ${ms}, after: "\${a.mark}"}}
      - {name: d, tool: ${tool}, arguments: {mark: "\${run}-d", ms: ${ms}, after: ["\${b.mark}", "\${c.mark}"]}}
    output: "\${d.mark}"`
const tool = (name: string, rest: object = {}): object => ({ name, schema: { type: 'object' }, command: [`./tools/bin/${name}`], ...rest })
const service = await createService(t, {
  files: {
    'tools/bin/again': noted,
    'tools/bin/once': noted,
    'workspace/workflows.yaml': `workflows:\n  again:${workflow('again', 100)}\n  once:${workflow('once', 30_000)}\n`
  },
  tools: [tool('again', { idempotent: true }), tool('once')],
  aof: true,
  workers: 2
})
const { client } = service
let workers: AppProcess[] = [...service.workers]
const runs = (run: string): string[] => readFileSync(join(service.dir, 'workspace/runs'), 'utf8').split('\n').filter(line => line.startsWith(`${run}-`)).sort()

async function stepsOf (id: string): Promise<Job[]> {
  const { jobs } = await list(client, '?tag=workflow-step&limit=200')
  return (await Promise.all(jobs.map(job => read(client, job.id)))).filter(job => job.parent_id === id)
}

/** Kills the worker that has been there longest, and starts another one. */
async function replaceWorker (): Promise<void> {
  const [oldest, ...rest] = workers
  workers = rest
  const next = service.startWorker()
  await oldest?.stop('SIGKILL')
  workers.push(await next)
}

t.test('X33, RC43 when workers die in the middle of workflows, every step has one job, and the workflows end', { timeout: 400_000 }, async t => {
  const jobs = await Promise.all(Array.from({ length: 6 }, (_, run) => submit(client, { type: 'workflow.run', timeout_sec: 300, input: { workflow: 'again', params: { run: `r${run}` } } })))
  for (let round = 0; round < 3; round++) {
    await delay(80 * round)
    await replaceWorker()
  }
  for (const [run, job] of jobs.entries()) {
    const ended = await waitFor('a workflow ends', async () => {
      const now = await read(client, job.id)
      return now.status !== 'running' && now.status !== 'queued' && now
    }, 60_000)
    t.match(ended, { status: 'succeeded', result: { output: `r${run}-d`, created_count: 4 } }, JSON.stringify(ended.error))
    t.same([...new Set(runs(`r${run}`))], ['a', 'b', 'c', 'd'].map(step => `r${run}-${step}`))
    t.equal((await stepsOf(job.id)).length, 4)
  }
})

t.test('X33 a step that is not idempotent is never run twice: when its worker is lost, the workflow fails', async t => {
  const job = await submit(client, { type: 'workflow.run', timeout_sec: 300, input: { workflow: 'once', params: { run: 'o' } } })
  await waitFor('the first step runs', () => runs('o').length === 1)
  await replaceWorker()
  await replaceWorker()
  const failed = await reach(client, job.id, 'failed', 'succeeded')
  t.match(failed, { status: 'failed', error: { message: /^step 'a' failed: /, details: { step: 'a', error: { code: 'WORKER_LOST' } } } })
  t.same(runs('o'), ['o-a'])
})

t.test('RC35 jobs that wait for others outlive their workers and a restart of Redis', { timeout: 400_000 }, async t => {
  const first = await submit(client, { type: 'agentcli.again', delay_ms: 3_000, input: { mark: 'w-1', ms: 1 } })
  const waiting = await submit(client, { type: 'agentcli.again', queue: 'other', input: { mark: 'w-2', ms: 1 }, depends_on: [first.id] })
  const parent = await submit(client, { type: 'workflow.run', timeout_sec: 300, input: { workflow: 'again', params: { run: 'x' } } })
  await delay(1_200)
  await service.redis.stop()
  await service.redis.start()
  await replaceWorker()
  for (const [id, output] of [[waiting.id, { mark: 'w-2' }], [parent.id, { output: 'x-d' }]] as const) {
    const ended = await waitFor('the job ends', async () => {
      // Until the API has its connection again, it says 503.
      const now = await read(client, id) as Job | undefined
      return now !== undefined && ['succeeded', 'failed'].includes(now.status) && now
    }, 60_000)
    t.match(ended, { status: 'succeeded', result: output }, JSON.stringify(ended.error))
  }
})
