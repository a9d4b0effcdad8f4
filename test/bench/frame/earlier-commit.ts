import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readReport, type Report } from './report-file.ts'

/** Which rows a commit is asked for, and where it is looked for. */
interface EarlierRun {
  name: string
  rows: ReadonlySet<string>
  isQuick: boolean
  root: string
  say: (line: string) => void
}

/** A commit can be compared with when it has this: it writes all rounds as JSON. */
const entry = 'test/bench/frame/report-file.ts'
/** Installs and builds a checkout, and tells the names of its rows in the last line. */
const prepare = `
const { installDependencies, build } = await import('./scripts/checkout.mjs')
installDependencies()
build()
const { stages } = await import('./test/build/bench/stages.js')
console.log(JSON.stringify(Object.values(stages).flatMap(({ rows }) => Object.keys(rows))))
process.exit()
`

/**
 * Measures rows as they were at a commit: in a checkout of its own, with its own dependencies, which is removed afterwards,
 * also where the run fails or is interrupted.
 *
 * @throws Error that names the commit, and what it lacks.
 */
export async function benchCommit ({ name, rows, isQuick, root, say }: EarlierRun): Promise<Report> {
  const commit = findCommit(name, root)
  const directory = await mkdtemp(join(tmpdir(), 'toolyard-bench-commit-'))
  const checkout = join(directory, 'checkout')
  const interrupted = new AbortController()
  const interrupt = (): void => { interrupted.abort() }
  for (const each of ['SIGINT', 'SIGTERM'] as const) process.once(each, interrupt)
  const { signal } = interrupted
  const node = async (args: string[], shown: boolean): Promise<Ended> => await runNode(args, { cwd: checkout, shown, signal })
  try {
    git(root, 'worktree', 'add', '--quiet', '--detach', checkout, commit)
    say(`Installing and building ${name} (${commit.slice(0, 8)}) beside this checkout ...`)
    const prepared = await node(['--input-type=module', '--eval', prepare], false)
    if (prepared.status !== 0) throw new Error(`--compare ${name}: it can't be installed and built here:\n${lastLines(prepared.output)}`)
    const known = new Set(JSON.parse(prepared.output.trimEnd().split('\n').at(-1) ?? '') as string[])
    const asked = [...rows].filter(row => known.has(row))
    const unknown = [...rows].filter(row => !known.has(row))
    if (asked.length === 0) throw new Error(`--compare ${name}: it has none of these rows: ${unknown.join(', ')}`)
    if (unknown.length > 0) say(`${name} has no row ${unknown.join(', ')}: not compared.`)
    const file = join(directory, 'report.json')
    const options = ['--only', asked.join(','), '--json', file, ...isQuick ? ['--quick'] : []]
    const { status } = await node(['test/build/bench/main.js', ...options], true)
    // A row that missed its target, failed or was disturbed has its status too.
    if (!existsSync(file)) throw new Error(`--compare ${name}: its bench ended with status ${status} and no report`)
    return readReport(file)
  } finally {
    for (const each of ['SIGINT', 'SIGTERM'] as const) process.off(each, interrupt)
    await rm(directory, { recursive: true, force: true })
    git(root, 'worktree', 'prune')
  }
}

/** The full name of a commit that has a bench like this one. */
function findCommit (name: string, root: string): string {
  let commit: string
  try {
    commit = git(root, 'rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`)
  } catch {
    throw new Error(`--compare ${name}: there is neither such a file nor such a commit; name the JSON file of an earlier run, or a commit, branch or tag`)
  }
  try {
    git(root, 'cat-file', '-e', `${commit}:${entry}`)
  } catch {
    throw new Error(`--compare ${name}: this commit has no bench that writes its rounds (${entry}); name a later one`)
  }
  return commit
}

interface Ended {
  status: number | null
  output: string
}

async function runNode (args: string[], { cwd, shown, signal }: { cwd: string, shown: boolean, signal: AbortSignal }): Promise<Ended> {
  const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', ...(shown ? ['inherit', 'inherit'] as const : ['pipe', 'pipe'] as const)] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', chunk => { output += String(chunk) })
  const stop = (): void => { child.kill() }
  signal.addEventListener('abort', stop, { once: true })
  await once(child, 'close')
  signal.removeEventListener('abort', stop)
  if (signal.aborted) throw new Error('interrupted')
  return { status: child.exitCode, output }
}

function git (cwd: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()
}

function lastLines (text: string): string {
  return text.trimEnd().split('\n').slice(-20).join('\n')
}
