import { createExecutors, openAudit, type Executors } from '@toolyard/executors'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { ratioAtMost, type Setting, type Stage } from '../frame/row.ts'
import { p50 } from '../sample.ts'
import { toolOf } from './bench-executors.ts'

const filesPerDirectory = 50

/** The arguments of the tool, and those of ripgrep for the same. */
const searches = {
  'search-text': { what: 'a text that one of the files has', jobType: 'tools.find_in_files', args: { query: 'needle_in_one_file', case_sensitive: true }, ripgrep: ['--fixed-strings', '--line-number', 'needle_in_one_file', '.'] },
  'search-expression': { what: 'an expression in any case', jobType: 'tools.find_in_files', args: { query: 'needle_[a-z_]+_file\\b', regex: true }, ripgrep: ['--ignore-case', '--line-number', 'needle_[a-z_]+_file\\b', '.'] },
  'search-name': { what: 'a file by its name', jobType: 'tools.file_search', args: { query: 'hit.js' }, ripgrep: ['--files', '--iglob', '*hit.js*', '.'] }
}

/** Searches with the built-in tools, beside ripgrep where it is installed. */
export const search: Stage = {
  title: 'Searches in 100,000 files',
  isHeavy: true,
  rows: Object.fromEntries(Object.entries(searches).map(([name, { what }]) => [
    name, { what, yardstick: 'ripgrep', unit: 'ms', target: ratioAtMost(3) }
  ])),
  open: async ({ cleanup, size }) => {
    const workspace = await makeTree(cleanup, size(100_000, 500))
    const program = ripgrepPath()
    const executors = createTestExecutors(workspace)
    cleanup.teardown(async () => { await executors.close() })
    return Object.fromEntries(Object.entries(searches).map(([name, { jobType, args, ripgrep }]) => [name, {
      ...(program === undefined ? {} : { yardstick: async () => await p50(1, async () => await runRipgrep(program, ripgrep, workspace)) }),
      subject: async () => await p50(1, async () => await runTool(executors, jobType, args))
    }]))
  }
}

async function makeTree (cleanup: Setting['cleanup'], fileCount: number): Promise<string> {
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
  const tool = toolOf(jobType, { kind: 'builtin' }, { jobType, source: { format: 'builtin', file: 'builtin', index: 0 } })
  const outcome = await executors.run(tool, args, { jobId: 'bench', timeoutMs: 120_000, signal: new AbortController().signal, log: () => {} })
  if (!outcome.ok || !/"(?:match|result)_count":1\b/.test(JSON.stringify(outcome.output))) throw new Error(`the search went wrong: ${JSON.stringify(outcome)}`)
}
