import { execFile } from 'node:child_process'
import t from 'tap'
import { serviceCalls } from '../bench/rows/service-calls.ts'
import { plainRedis } from '../support/connection.ts'
import { findOnPath } from '@toolyard/sandbox'
import { createService } from '../support/service.ts'

/*
 * The cost of calls, in counts: times can't be held on shared machines. A change that raises a number here says why in its
 * message; one that lowers it lowers the number. Calls that start processes aren't counted: what looks after them does so by time.
 * The least of five rounds counts: what the worker does by time, and jobs that come one by one to a worker that has no
 * processor, only add to it.
 */
const runs = 100

/** Of one call, or one job of a batch. */
interface Costs {
  /** Scripts that are sent to Redis, and waits for a job. */
  scripts: number
  publishes: number
  /** Bytes that Redis gets and sends. */
  bytesIn: number
  bytesOut: number
  /** System calls of the worker that name or open files. */
  files: number
}

const most: Record<string, Costs> = {
  'a sync call of a built-in tool': { scripts: 5.5, publishes: 2.3, bytesIn: 3_200, bytesOut: 1_500, files: 19 },
  'a call of 32 in flight': { scripts: 1.2, publishes: 1.6, bytesIn: 1_500, bytesOut: 1_300, files: 10 },
  'a job of a batch of 20': { scripts: 1.2, publishes: 1.6, bytesIn: 1_500, bytesOut: 1_200, files: 10 }
}

const { api, redis, workers: [worker] } = await createService(t, {
  files: { 'workspace/README.md': 'A file.\n' }, env: { MAX_JOBS_PER_KEY: '0' }
})
const watching = plainRedis(t, redis)
const read = serviceCalls({ api })
const kinds: Record<string, { run: () => Promise<unknown>, units: number }> = {
  'a sync call of a built-in tool': { run: async () => await read.batch(1), units: 1 },
  'a call of 32 in flight': { run: async () => await Promise.all(Array.from({ length: 32 }, async () => await read.batch(1))), units: 32 },
  'a job of a batch of 20': { run: async () => await read.batch(20), units: 20 }
}

async function ofRedis (): Promise<Omit<Costs, 'files'>> {
  const [commands = '', stats = ''] = await Promise.all(['commandstats', 'stats'].map(async section => await watching.info(section)))
  const callsOf = (name: string): number => Number(new RegExp(`^cmdstat_${name}:calls=(\\d+)`, 'm').exec(commands)?.[1] ?? 0)
  const stat = (name: string): number => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(stats)?.[1] ?? 0)
  return {
    scripts: ['evalsha', 'eval', 'bzpopmin'].reduce((sum, name) => sum + callsOf(name), 0),
    publishes: callsOf('publish'),
    bytesIn: stat('total_net_input_bytes'),
    bytesOut: stat('total_net_output_bytes')
  }
}

/** Counts the system calls of the worker's own process while something is done; undefined where strace can't. */
async function filesWhile (act: () => Promise<unknown>): Promise<number | undefined> {
  const pid = worker?.child.pid
  const strace = findOnPath('strace', process.env['PATH'])
  if (strace === undefined || pid === undefined) return undefined
  let summary = ''
  const ended = new Promise<void>(resolve => {
    const child = execFile(strace, ['-c', '-f', '-e', 'trace=%file', '-p', String(pid)], (_error, _stdout, stderr) => {
      summary = stderr
      resolve()
    })
    child.stderr?.once('data', () => { void act().finally(() => { child.kill('SIGINT') }) })
  })
  await ended
  const total = /^\s*100\.00\s+\S+\s+(?:\S+\s+)?(\d+)\s.*total$/m.exec(summary)?.[1]
  return total === undefined ? undefined : Number(total)
}

for (const [name, { run, units }] of Object.entries(kinds)) {
  void t.test(`${name} costs no more than it did`, async t => {
    const times = Math.ceil(runs / units)
    const repeat = async (): Promise<void> => { for (let done = 0; done < times; done++) await run() }
    await repeat()
    const rounds: Omit<Costs, 'files'>[] = []
    const ofFiles: (number | undefined)[] = []
    for (let round = 0; round < 5; round++) {
      const before = await ofRedis()
      await repeat()
      const after = await ofRedis()
      rounds.push({
        scripts: after.scripts - before.scripts,
        publishes: after.publishes - before.publishes,
        bytesIn: after.bytesIn - before.bytesIn,
        bytesOut: after.bytesOut - before.bytesOut
      })
      ofFiles.push(await filesWhile(repeat))
    }
    const files = ofFiles.includes(undefined) ? undefined : Math.min(...ofFiles.map(Number))
    const bounds = most[name]
    for (const key of ['scripts', 'publishes', 'bytesIn', 'bytesOut'] as const) {
      const cost = Math.min(...rounds.map(costs => costs[key])) / (times * units)
      t.ok(cost <= (bounds?.[key] ?? 0), `${key}: ${cost.toFixed(2)}`)
    }
    if (files === undefined) t.comment('strace is not there, or may not watch the worker: calls of the file system were not counted')
    else t.ok(files / (times * units) <= (bounds?.files ?? 0), `files: ${(files / (times * units)).toFixed(1)}`)
  })
}
