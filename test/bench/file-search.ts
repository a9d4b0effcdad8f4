import { createExecutors, openAudit, type Executors } from '@toolyard/executors'
import type { Tool } from '@toolyard/manifests'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { Cleanup } from '../support/cleanup.ts'
import { ratioRow, type Row } from './report.ts'

const fileCount = 100_000
const filesPerDirectory = 50
const rounds = 3

/** What is looked for: the arguments of the tool, and those of ripgrep for the same. */
const searches = [
  { what: 'a text in one of the files', jobType: 'tools.find_in_files', args: { query: 'needle_in_one_file', case_sensitive: true }, ripgrep: ['--fixed-strings', '--line-number', 'needle_in_one_file', '.'] },
  { what: 'an expression in any case', jobType: 'tools.find_in_files', args: { query: 'needle_[a-z_]+_file\\b', regex: true }, ripgrep: ['--ignore-case', '--line-number', 'needle_[a-z_]+_file\\b', '.'] },
  { what: 'a file by its name', jobType: 'tools.file_search', args: { query: 'file-99999' }, ripgrep: ['--files', '--iglob', '*file-99999*', '.'] }
] as const

/** Searches in a tree of 100,000 files: ripgrep by itself, where it is installed, beside the built-in tools. */
export async function benchFileSearch (cleanup: Cleanup): Promise<Row[]> {
  const workspace = await makeTree(cleanup)
  const program = ripgrepPath()
  const executors = createTestExecutors(workspace)
  const rows: Row[] = []
  for (const search of searches) {
    const bare = program === undefined ? undefined : await fastest(() => runRipgrep(program, search.ripgrep, workspace))
    const ours = await fastest(() => runTool(executors, search.jobType, search.args))
    const what = `100,000 files: ${search.what}, ms`
    rows.push(bare === undefined ? { what, bare: 'rg not installed', toolyard: ours.toFixed(0), ratio: '', aim: '' } : ratioRow(what, bare, ours, 'at most 3'))
  }
  await executors.close()
  return rows
}

async function makeTree (cleanup: Cleanup): Promise<string> {
  const workspace = await mkdtemp(join(tmpdir(), 'toolyard-bench-'))
  cleanup.teardown(() => rm(workspace, { recursive: true, force: true }))
  const text = 'export function sample (value) {\n  return value.map(each => each.size * 2)\n}\n'.repeat(10)
  for (let first = 0; first < fileCount; first += filesPerDirectory) {
    const directory = join(workspace, `part-${first % 40}`, `group-${first}`)
    await mkdir(directory, { recursive: true })
    await Promise.all(Array.from({ length: filesPerDirectory }, (_, index) => writeFile(join(directory, `file-${first + index}.js`), text)))
  }
  await writeFile(join(workspace, 'part-0', 'hit.js'), `${text}// needle_in_one_file\n`)
  return workspace
}

function ripgrepPath (): string | undefined {
  return (process.env['PATH'] ?? '').split(delimiter).map(directory => join(directory, 'rg')).find(file => {
    try {
      accessSync(file, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

async function runRipgrep (program: string, args: readonly string[], cwd: string): Promise<void> {
  const child = spawn(program, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
  const [code] = await once(child, 'exit') as [number]
  if (code !== 0) throw new Error(`rg ended with ${code}`)
}

function createTestExecutors (workspaceDir: string): Executors {
  const audit = openAudit({ dir: join(workspaceDir, '.audit'), redact: '', secrets: [], onError: error => { throw error } })
  return createExecutors({ workspaceDir, env: {}, maxOutputBytes: 1_048_576, audit })
}

async function runTool (executors: Executors, jobType: string, args: Record<string, unknown>): Promise<void> {
  const tool: Tool = { name: jobType, description: '', parameters: {}, jobType, enabled: true, idempotent: true, source: { format: 'builtin', file: 'builtin', index: 0 }, run: { kind: 'builtin' } }
  const outcome = await executors.run(tool, args, { jobId: 'bench', timeoutMs: 120_000, signal: new AbortController().signal, log: () => {} })
  if (!outcome.ok || !/"(?:match|result)_count":1\b/.test(JSON.stringify(outcome.output))) throw new Error(`the search went wrong: ${JSON.stringify(outcome)}`)
}

/** Milliseconds of the fastest of some runs, after one that warms the cache. */
async function fastest (run: () => Promise<void>): Promise<number> {
  await run()
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    const begun = performance.now()
    await run()
    times.push(performance.now() - begun)
  }
  return Math.min(...times)
}
