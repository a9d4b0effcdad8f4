import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { repoRoot } from '../../repo/source-tree.ts'
import { checkedOutProgram, toolyardProgram } from '../../cli/toolyard.ts'
import type { Cleanup } from '../../support/cleanup.ts'
import { waitFor } from '../../support/condition.ts'
import { valueAtMost, type Stage } from '../frame/row.ts'
import { residentKb } from '../resident.ts'
import { timesOf } from '../sample.ts'

const run = promisify(execFile)

/** After so long nothing of a start goes on. */
const idleMs = 2_000

interface Start {
  ms: number
  apiMb: number
  workerMb: number
}

/** `toolyard start` of the tarball that is published, with its own Redis, in a new directory. A test has its bundle made already. */
export const start: Stage = {
  title: 'A start, and what is idle then',
  rows: {
    'start-ready': { what: 'from `toolyard start` of the tarball until /ready answers 200', yardstick: 'a start of Node that does nothing', unit: 'ms', target: valueAtMost(1_500) },
    'idle-api': { what: 'resident memory of the API 2 s later', unit: 'MB', target: valueAtMost(85) },
    'idle-worker': { what: 'resident memory of the worker', unit: 'MB', target: valueAtMost(75) }
  },
  open: async ({ cleanup, size }) => {
    const program = toolyardProgram === checkedOutProgram ? await unpackTarball(cleanup) : toolyardProgram
    const starts: Array<Promise<Start>> = []
    const startOf = async (round: number): Promise<Start> => await (starts[round] ??= startOnce(program, size(idleMs, 0)))
    const node = async (): Promise<unknown> => await once(spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }), 'exit')
    return {
      'start-ready': { yardstick: async () => (await timesOf(1, node))[0] ?? NaN, subject: async round => (await startOf(round)).ms },
      'idle-api': { subject: async round => (await startOf(round)).apiMb },
      'idle-worker': { subject: async round => (await startOf(round)).workerMb }
    }
  }
}

/** Its program, in a directory of its own. */
async function unpackTarball (cleanup: Cleanup): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'toolyard-bench-package-'))
  cleanup.teardown(async () => { await rm(directory, { recursive: true, force: true }) })
  await run(process.execPath, [join(repoRoot, 'scripts/pack.mjs'), directory])
  await run('tar', ['-xzf', join(directory, (await readdir(directory)).find(name => /^toolyard-\d.*\.tgz$/.test(name)) ?? ''), '-C', directory])
  return join(directory, 'package/bin/toolyard.js')
}

async function startOnce (program: string, restMs: number): Promise<Start> {
  const cwd = await mkdtemp(join(tmpdir(), 'toolyard-bench-'))
  const startedAt = performance.now()
  const child = spawn(process.execPath, [program, 'start'], { cwd, env: { PATH: process.env['PATH'], HOME: process.env['HOME'], PORT: '0' }, stdio: ['ignore', 'pipe', 'pipe'] })
  const exited = once(child, 'exit')
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => { output += String(chunk) })
  try {
    const address = await waitFor('the address is printed', () => {
      if (child.exitCode !== null) throw new Error(`toolyard start ended:\n${output}`)
      return /ready at (http:\/\/\S+)/.exec(output)?.[1]
    }, 60_000)
    await waitFor('/ready answers 200', async () => (await fetch(`${address}/ready`)).status === 200)
    const ms = performance.now() - startedAt
    await sleep(restMs)
    return { ms, apiMb: await memoryMb(child.pid ?? 0, 'bundle/api.js'), workerMb: await memoryMb(child.pid ?? 0, 'bundle/worker.js') }
  } finally {
    child.kill()
    await exited
    await rm(cwd, { recursive: true, force: true })
  }
}

/** Of the child whose command line names a program. */
async function memoryMb (parent: number, part: string): Promise<number> {
  for (const pid of (await readdir('/proc')).filter(name => /^\d+$/.test(name))) {
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
    if (!status.includes(`\nPPid:\t${parent}\n`) || !(await readFile(`/proc/${pid}/cmdline`, 'utf8')).includes(part)) continue
    return residentKb(Number(pid)) / 1_024
  }
  throw new Error(`no process of ${part} runs`)
}
