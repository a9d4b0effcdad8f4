import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import type { AppProcess } from '../support/processes.ts'
import { startRedisSentinels } from '../support/redis-sentinels.ts'
import { startProcesses } from '../support/service.ts'
import { waitFor } from '../support/condition.ts'
import { runBatch, type Caller, type Encounters, type LoadCall } from './caller.ts'
import { descriptorsOf, processesIn, unfinishedKeys } from './leftovers.ts'
import { runsOf, stampEntries, stampFiles } from '../faults/stamp.ts'

/** `LOAD_CALLS` makes a shorter run: CI's takes about two minutes. */
const total = Number(process.env['LOAD_CALLS'] ?? 5_000)
const keys = ['one', 'two', 'three', 'four'].map(name => ({ name, key: `load-key-${name}-0123456789`, role: 'admin' }))
const callersPerKey = 5
const queues = ['default', 'a:b', 'c']

t.setTimeout(900_000)

void t.test(`fault 20, fault 21, fault 26, fault 29 ${total} mixed calls over a failover, with workers killed at random and an API restarted: nothing is lost, nothing doubled, nothing left`, async t => {
  t.setTimeout(900_000)
  const { master, replica, env: redisEnv } = await startRedisSentinels(t)
  const temporary = mkdtempSync(join(tmpdir(), 'toolyard-load-'))
  t.teardown(() => { rmSync(temporary, { recursive: true, force: true }) })
  const service = await startProcesses(t, redisEnv, {
    files: stampFiles,
    tools: stampEntries,
    workers: 3,
    env: { API_KEYS_JSON: JSON.stringify(keys), TMPDIR: temporary, JOB_RETENTION_COUNT: '100000', LOG_LEVEL: 'warn', SHUTDOWN_GRACE_SEC: '20' }
  })
  const apis = [service.api, await service.startApi()]
  const workers = [...service.workers]
  const encounters: Encounters = { unavailable: 0, broken: 0, pending: 0 }
  const calls = Array.from({ length: total }, (_, number) => loadCall(number))
  const waiting = [...calls]
  const done = (): number => calls.filter(call => call.end !== undefined).length
  const startedAt = performance.now()

  const load = Promise.all(keys.flatMap(({ key }) => Array.from({ length: callersPerKey }, async () => {
    const caller: Caller = { key, addresses: () => apis.map(({ address }) => address), encounters }
    while (waiting.length > 0) {
      const batch = waiting.splice(0, 1 + Math.floor(Math.random() * 5))
      await runBatch(caller, batch, Math.random() < 0.5 ? 'sync' : 'async', queues[Math.floor(Math.random() * queues.length)] ?? 'default')
    }
  })))
  let over = false
  const ended = load.finally(() => { over = true })
  const kills = killWorkers(workers, () => over, () => service.startWorker())
  const disturbances = (async () => {
    await waitFor('a third is done', () => over || done() > total / 3, 600_000)
    await master.kill()
    await waitFor('the replica is the master', async () => /role:master/.test(await replica.client.info('replication')), 60_000)
    await waitFor('half is done', () => over || done() > total / 2, 600_000)
    await master.start()
    const [first] = apis
    const successor = await service.startApi()
    apis[0] = successor
    return await first?.stop('SIGTERM')
  })()
  await ended
  const [killed, apiExit] = await Promise.all([kills, disturbances])
  const seconds = Math.round((performance.now() - startedAt) / 1_000)

  const ends = new Map<string, number>()
  for (const { end = 'none' } of calls) ends.set(end, (ends.get(end) ?? 0) + 1)
  const runs = runsOf(service)
  const runsOfCall = ({ number }: LoadCall): number => runs.get(String(number)) ?? 0
  const doubled = calls.filter(call => call.name === 'once' && runsOfCall(call) > 1)
  const again = calls.filter(call => call.name === 'again' && runsOfCall(call) > 1)
  t.comment(`${total} calls in ${seconds} s: ${[...ends].map(([end, count]) => `${count} ${end}`).join(', ')}`)
  t.comment(`${killed} workers killed, ${encounters.unavailable} times unavailable, ${encounters.broken} requests broken off, ${encounters.pending} answers pending`)
  t.comment(`${doubled.length} calls of the tool that is not idempotent ran twice; ${again.length} of the idempotent one did`)

  t.equal(apiExit, 0, 'the API that was restarted ended well')
  t.same([...ends.keys()].filter(end => end !== 'ok' && end !== 'WORKER_LOST'), [], 'every call has succeeded, or lost its worker')
  t.same(calls.filter(({ name, end }) => name !== 'once' && end !== 'ok').map(({ number, end }) => `${number} ${end}`), [], 'idempotent ones have succeeded')
  t.same(doubled.map(({ number }) => number), [], 'no other one ran twice')
  t.same(calls.filter(call => call.end === 'ok' && call.name !== 'data_file_read' && runsOfCall(call) === 0), [], 'who succeeded has run')
  const jobIds = calls.flatMap(({ jobId }) => jobId === undefined ? [] : [jobId])
  t.equal(new Set(jobIds).size, jobIds.length, 'each call has a job of its own')

  await waitFor('nothing waits or runs', async () => (await unfinishedKeys(replica.port)).filter(key => !key.endsWith(':stalled')).length === 0)
  const open = [...apis, ...workers].map(({ child }) => descriptorsOf(child.pid ?? 0))
  t.comment(`open descriptors: ${open.join(', ')}`)
  t.ok(Math.max(...open) < 100, 'descriptors do not pile up')
  t.same(await Promise.all([...apis, ...workers].map(app => app.stop('SIGTERM'))), [0, 0, 0, 0, 0])
  await waitFor('all processes are gone', () => processesIn(service.dir).length === 0).catch(() => {})
  t.same(processesIn(service.dir), [])
  t.same(readdirSync(temporary), [], 'no temporary directory is left')
  for (const { address } of apis) await t.rejects(fetch(`${address}/health`), 'nobody listens')
})

/** Half of them may not run twice, a quarter may, a quarter run in the worker itself. */
function loadCall (number: number): LoadCall {
  const sec = number % 10 === 0 ? { sec: '0.3' } : {}
  const mark = String(number)
  switch (number % 4) {
    case 0: return { number, name: 'data_file_read', arguments: { path: 'README.md' } }
    case 1: return { number, name: 'again', arguments: { mark, ...sec } }
    default: return { number, name: 'once', arguments: { mark, ...sec } }
  }
}

/** Kills one after the other and puts another in its place; resolves with how many when it is over. */
async function killWorkers (workers: AppProcess[], isOver: () => boolean, start: () => Promise<AppProcess>): Promise<number> {
  let killed = 0
  for (;;) {
    await delay(3_000 + Math.random() * 3_000)
    if (isOver()) return killed
    const index = Math.floor(Math.random() * workers.length)
    await workers[index]?.stop('SIGKILL')
    killed += 1
    workers[index] = await start()
  }
}
