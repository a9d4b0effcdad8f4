import { createExecutors, openAudit, openSandbox, type Executors, type Sandbox } from '@toolyard/executors'
import type { Tool } from '@toolyard/manifests'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Cleanup } from '../support/cleanup.ts'
import { ratioRow, type Row } from './report.ts'
import { latency, throughput } from './sample.ts'

const grownMb = 250
const aim = 'at least 0.9'

/** Command calls, in the open and in a box, beside a bare `child_process.spawn` of the same command lines, as they are and with 250 MB more in this process. */
export async function benchCommand (cleanup: Cleanup): Promise<Row[]> {
  const { executors, sandbox, open } = await setUp(cleanup)
  const rows: Row[] = []
  const lines = [{ what: 'in the open', run: open, argv: ['/bin/cat'] }]
  if (sandbox.report.level !== 'none') {
    const boxed = await setUp(cleanup, 'auto')
    await boxed.executors.prepare()
    lines.push({ what: 'in a box', run: boxed.open, argv: await boxLine(boxed.executors) })
  } else rows.push({ what: 'no bubblewrap here: the box is not measured', bare: '', toolyard: '', ratio: '', aim: '' })
  await executors.prepare()
  const smallRates: number[] = []
  for (const { what, run, argv } of lines) {
    const [small, bareTimes] = await measure(() => spawnBare(argv))
    const [ours, times] = await measure(run)
    smallRates.push(small)
    rows.push(ratioRow(`${what}: calls/s, 4 in flight`, small, ours, aim))
    rows.push(ratioRow(`${what}: p50, ms`, bareTimes.p50, times.p50, ''))
    rows.push(ratioRow(`${what}: p99, ms`, bareTimes.p99, times.p99, ''))
  }
  // Behind all that is measured without it: nobody says when it would be given back.
  const ballast = Buffer.alloc(grownMb * 2 ** 20, 1)
  for (const [at, { what, run, argv }] of lines.entries()) {
    const [bareGrown] = await measure(() => spawnBare(argv))
    const [grown, grownTimes] = await measure(run)
    rows.push(ratioRow(`${what}, +${ballast.length / 2 ** 20} MB: calls/s beside a bare spawn without them`, smallRates[at] ?? 0, grown, aim))
    rows.push(ratioRow(`${what}, +${grownMb} MB: calls/s beside a bare spawn with them`, bareGrown, grown, ''))
    rows.push({ what: `${what}, +${grownMb} MB: p50 and p99, ms`, bare: '', toolyard: `${grownTimes.p50.toFixed(2)} ${grownTimes.p99.toFixed(2)}`, ratio: '', aim: '' })
  }
  return rows
}

interface SetUp {
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
  return { executors, sandbox, open: async () => { await call(executors, '/bin/cat', []) } }
}

async function call (executors: Executors, program: string, args: string[]): Promise<unknown> {
  const tool: Tool = {
    name: 'command', description: '', parameters: {}, jobType: 'agentcli.command', enabled: true, idempotent: false, source: { format: 'agentcli', file: '/tools.json', index: 0 }, run: { kind: 'command', program, args, envPassthrough: [] }
  }
  const outcome = await executors.run(tool, { a: 1 }, { jobId: 'bench', timeoutMs: 60_000, signal: new AbortController().signal, log: () => {} })
  if (!outcome.ok) throw new Error(outcome.error.message)
  return outcome.output
}

/** The command line of the box itself, which is the first process in it, without the descriptors that it gets. */
async function boxLine (executors: Executors): Promise<string[]> {
  const text = String(await call(executors, '/bin/cat', ['/proc/1/cmdline']))
  const argv = text.split('\0').slice(0, -1)
  const without = (name: string): void => { if (argv.includes(name)) argv.splice(argv.indexOf(name), 2) }
  without('--json-status-fd')
  without('--seccomp')
  return argv.filter((_, at) => at < argv.length - 1)
}

async function spawnBare (argv: readonly string[]): Promise<void> {
  const child = spawn(argv[0] ?? '', argv.slice(1), { env: { PATH: process.env['PATH'], HOME: process.env['HOME'] }, detached: true })
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => { text += String(chunk) })
  child.stdin.end('{"a":1}')
  await once(child, 'close')
  if (text !== '{"a":1}') throw new Error(`the bare spawn went wrong: ${text}`)
}

async function measure (run: () => Promise<void>): Promise<[rate: number, times: Awaited<ReturnType<typeof latency>>]> {
  for (let warm = 0; warm < 5; warm++) await run()
  const times = await latency(60, run)
  return [await throughput(150, 4, 1, run), times]
}
