import { createExecutors, openAudit, openSandbox, type Executors, type Sandbox } from '@toolyard/executors'
import type { Tool } from '@toolyard/manifests'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readdirSync, readlinkSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Cleanup } from '../support/cleanup.ts'
import { spawnBare, type BareLine, type RateRequest } from './bare-spawn.ts'
import { medianRow, ratioRow, type Row } from './report.ts'
import { latency, quantiles, throughput, type Sample } from './sample.ts'

const grownMb = 250
const rounds = 9
const runs = 80
const inFlight = 4
const aim = 'at least 0.9'

interface Contest {
  what: string
  line: BareLine
  ours: () => Promise<void>
}

/**
 * Command calls, in the open and in a box, beside a bare `child_process.spawn` of the same
 * command lines, as they are and with 250 MB more in this process.
 */
export async function benchCommand (cleanup: Cleanup): Promise<Row[]> {
  const { executors, sandbox, open } = await setUp(cleanup)
  await executors.prepare()
  const rows: Row[] = []
  const contests: Contest[] = [{ what: 'in the open', line: { argv: ['/bin/cat'], files: [] }, ours: open }]
  if (sandbox.report.level !== 'none') {
    const boxed = await setUp(cleanup, 'auto')
    await boxed.executors.prepare()
    const status = openSync(join(boxed.dir, 'status'), 'w+')
    cleanup.teardown(() => { closeSync(status) })
    contests.push({ what: 'in a box', line: await boxLine(boxed.executors, status), ours: boxed.open })
  } else rows.push({ what: 'no bubblewrap here: the box is not measured', bare: '', toolyard: '', ratio: '', aim: '' })
  for (const { what, line, ours } of contests) {
    const bare = async (): Promise<void> => { await spawnBare(line) }
    rows.push(medianRow(`${what}: calls/s, ${inFlight} in flight`, await measureRates(async () => await throughput(runs, inFlight, 1, bare), ours), aim))
    const times = await measureTimes(bare, ours)
    rows.push(ratioRow(`${what}: p50, ms`, times.bare.p50, times.ours.p50, ''))
    rows.push(ratioRow(`${what}: p99, ms`, times.bare.p99, times.ours.p99, ''))
  }
  const small = startSmallSpawner(cleanup)
  // Behind all that is measured without it: nobody says when it would be given back.
  const ballast = Buffer.alloc(grownMb * 2 ** 20, 1)
  for (const { what, line, ours } of contests) {
    const bare = async (): Promise<void> => { await spawnBare(line) }
    const grown = `${what}, +${ballast.length / 2 ** 20} MB`
    rows.push(medianRow(`${grown}: calls/s beside a process that only spawns`, await measureRates(async () => await small(line), ours), aim))
    rows.push(medianRow(`${grown}: calls/s beside a bare spawn with them`, await measureRates(async () => await throughput(runs, inFlight, 1, bare), ours), ''))
    const times = await latency(60, ours)
    rows.push({ what: `${grown}: p50 and p99, ms`, bare: '', toolyard: `${times.p50.toFixed(2)} ${times.p99.toFixed(2)}`, ratio: '', aim: '' })
  }
  return rows
}

/** A process without anything else in it that spawns lines, and says how many per second. */
function startSmallSpawner (cleanup: Cleanup): (line: BareLine) => Promise<number> {
  const child = fork(fileURLToPath(new URL('bare-spawn.js', import.meta.url)))
  cleanup.teardown(() => { child.kill() })
  return async line => {
    child.send({ ...line, runs, inFlight } satisfies RateRequest)
    const [rate] = await once(child, 'message') as [number]
    return rate
  }
}

interface SetUp {
  dir: string
  executors: Executors
  sandbox: Sandbox
  /** One call. */
  open: () => Promise<void>
}

async function setUp (cleanup: Cleanup, mode: 'auto' | 'off' = 'off'): Promise<SetUp> {
  const dir = await mkdtemp(join(tmpdir(), 'toolyard-bench-'))
  cleanup.teardown(() => rm(dir, { recursive: true, force: true }))
  await mkdir(join(dir, 'workspace'))
  const sandbox = await openSandbox({ mode: 'auto', env: process.env, workspaceDir: join(dir, 'workspace'), hidden: [], defaultPermissions: ['read_repo'] })
  const executors = createExecutors({
    workspaceDir: join(dir, 'workspace'),
    env: process.env,
    maxOutputBytes: 1_048_576,
    ...(mode === 'auto' ? { sandbox } : {}),
    audit: openAudit({ dir: join(dir, 'audit'), redact: '', secrets: [], onError: error => { throw error } })
  })
  cleanup.teardown(async () => {
    await executors.close()
    sandbox.close()
  })
  return { dir, executors, sandbox, open: async () => { await call(executors, '/bin/cat', []) } }
}

async function call (executors: Executors, program: string, args: string[]): Promise<unknown> {
  const tool: Tool = {
    name: 'command', description: '', parameters: {}, jobType: 'agentcli.command', enabled: true, idempotent: false, source: { format: 'agentcli', file: '/tools.json', index: 0 }, run: { kind: 'command', program, args, envPassthrough: [] }
  }
  const outcome = await executors.run(tool, { a: 1 }, { jobId: 'bench', timeoutMs: 60_000, signal: new AbortController().signal, log: () => {} })
  if (!outcome.ok) throw new Error(outcome.error.message)
  return outcome.output
}

/**
 * The command line of the box itself, which is the first process in it, and what it
 * expects: a file for its status and, where there is one, the filter.
 */
async function boxLine (executors: Executors, status: number): Promise<BareLine> {
  const text = String(await call(executors, '/bin/cat', ['/proc/1/cmdline']))
  const argv = text.split('\0').slice(0, -2)
  return { argv, files: [`/proc/${process.pid}/fd/${status}`, ...(argv.includes('--seccomp') ? [filterPath()] : [])] }
}

/** A file of this process that has no name any more. */
function filterPath (): string {
  const path = readdirSync('/proc/self/fd').map(name => `/proc/${process.pid}/fd/${name}`).find(path => linkOf(path)?.endsWith('/filter (deleted)') === true)
  if (path === undefined) throw new Error('no filter is open')
  return path
}

function linkOf (path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    // What listed the directory is closed.
    return undefined
  }
}

/** In turns, so that whatever else the machine does meets both. */
async function measureRates (bareRate: () => Promise<number>, ours: () => Promise<void>): Promise<Array<[bare: number, ours: number]>> {
  for (let warm = 0; warm < 200; warm++) await ours()
  const rates: Array<[number, number]> = []
  for (let round = 0; round < rounds; round++) rates.push([await bareRate(), await throughput(runs, inFlight, 1, ours)])
  return rates
}

async function measureTimes (bare: () => Promise<void>, ours: () => Promise<void>): Promise<{ bare: Sample, ours: Sample }> {
  const times = { bare: [] as number[], ours: [] as number[] }
  for (let run = 0; run < 100; run++) {
    times.bare.push(await timeOf(bare))
    times.ours.push(await timeOf(ours))
  }
  return { bare: quantiles(times.bare), ours: quantiles(times.ours) }
}

async function timeOf (run: () => Promise<void>): Promise<number> {
  const startedAt = performance.now()
  await run()
  return performance.now() - startedAt
}
