import { createExecutors, openAudit, openSandbox, type RunContext } from '@toolyard/executors'
import type { Tool } from '@toolyard/manifests'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Cleanup } from '../support/cleanup.ts'
import { hasPython } from '../support/python.ts'
import { ratioRow, type Row } from './report.ts'
import { latency, throughput } from './sample.ts'

const source = 'from toolyard import Tool\n\nclass Nothing(Tool):\n    def execute(self):\n        return {}\n'
/** What the slow path does for every call: a new interpreter that imports what a tool needs, and reads and writes JSON. */
const script = 'import json, sys; json.load(sys.stdin); print(json.dumps({}))'

/** The warm Python host in the open beside a new interpreter for every call; both in turns. */
export async function benchPythonHost (cleanup: Cleanup): Promise<Row[]> {
  return await benchHost(cleanup, 'off')
}

/** The same with the host in the sandbox; the interpreter that it is measured by stays in the open. */
export async function benchBoxedPythonHost (cleanup: Cleanup): Promise<Row[]> {
  return await benchHost(cleanup, 'require')
}

async function benchHost (cleanup: Cleanup, mode: 'off' | 'require'): Promise<Row[]> {
  if (!hasPython()) return [{ what: 'python3 is not installed', bare: '', toolyard: '', ratio: '', aim: '' }]
  const dir = await mkdtemp(join(tmpdir(), 'toolyard-bench-'))
  cleanup.teardown(() => rm(dir, { recursive: true, force: true }))
  await mkdir(join(dir, 'workspace'))
  await writeFile(join(dir, 'nothing.py'), source)
  const sandbox = await openSandbox({ mode, env: process.env, workspaceDir: join(dir, 'workspace'), hidden: [], defaultPermissions: [] })
  cleanup.teardown(() => { sandbox.close() })
  const executors = createExecutors({
    sandbox,
    workspaceDir: join(dir, 'workspace'),
    env: process.env,
    maxOutputBytes: 1_048_576,
    audit: openAudit({ dir: join(dir, 'audit'), redact: '', secrets: [], onError: error => { throw error } })
  })
  cleanup.teardown(() => executors.close())
  const python = await interpreterPath()
  const newInterpreter = async (): Promise<void> => { await startInterpreter(python) }
  const warm = async (): Promise<void> => {
    const outcome = await executors.run(nothing(dir), {}, context())
    if (!outcome.ok) throw new Error(outcome.error.message)
  }
  const rows: Row[] = []
  for (let round = 1; round <= 3; round++) {
    const cold = await latency(20, newInterpreter)
    const host = await latency(100, warm)
    rows.push(ratioRow(`one call p50, ms (round ${round})`, cold.p50, host.p50, 'at most 10 ms'))
    rows.push(ratioRow(`one call p99, ms (round ${round})`, cold.p99, host.p99, ''))
    rows.push(ratioRow(`4 in flight, calls/s (round ${round})`, await throughput(40, 4, 1, newInterpreter), await throughput(200, 4, 1, warm), 'at least 5'))
  }
  return rows
}

/** The program itself: `python3` on the PATH may be a script that looks for it. */
async function interpreterPath (): Promise<string> {
  return (await promisify(execFile)('python3', ['-c', 'import sys; print(sys.executable)'])).stdout.trim()
}

async function startInterpreter (path: string): Promise<void> {
  const run = promisify(execFile)(path, ['-c', script])
  run.child.stdin?.end('{}')
  await run
}

function nothing (root: string): Tool {
  return {
    name: 'nothing',
    description: '',
    parameters: { type: 'object', properties: {} },
    jobType: 'pylot.nothing',
    enabled: true,
    idempotent: true,
    source: { format: 'tool-manifest', file: join(root, 'manifest.json'), index: 0 },
    run: { kind: 'python', root, module: 'nothing', config: {}, strictOutputs: false }
  }
}

function context (): RunContext {
  return { jobId: 'bench', timeoutMs: 10_000, signal: new AbortController().signal, log: () => {} }
}
