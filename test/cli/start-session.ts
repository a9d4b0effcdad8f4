import { orElse } from '@toolyard/contract/terms'
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { waitFor } from '../support/condition.ts'

/** A `toolyard start` with stand-ins, in a directory of its own. */
interface StartSession {
  pid: number
  /** All that it printed so far, both streams. */
  output: () => string
  /** Waits for a text in the output, or for the end of the process. */
  printed: (text: string) => Promise<void>
  /** The notes of the stand-ins so far. */
  events: () => string[]
  signal: (name: NodeJS.Signals) => void
  /** Resolves with the exit status, or the name of the signal. */
  exited: Promise<number | string>
}

const program = fileURLToPath(new URL('start-program.js', import.meta.url))
/** None of the settings of whoever runs the tests. */
const cleanEnvironment = { PATH: process.env['PATH'], HOME: process.env['HOME'], PORT: '0', SHUTDOWN_GRACE_SEC: '5' }

/** A directory for a start, which goes after all that runs in it: parts of a start make files until they end. */
export function startDirectory (t: Test): string {
  const directory = mkdtempSync(join(tmpdir(), 'toolyard-start-'))
  t.teardown(() => { rmSync(directory, { recursive: true }) })
  return directory
}

/** Starts it; what still runs when the test ends is killed. */
export function startSession (t: Test, directory: string, env: NodeJS.ProcessEnv = {}): StartSession {
  const child = spawn(process.execPath, [program], { cwd: directory, env: { ...cleanEnvironment, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => { output += String(chunk) })
  const exited = new Promise<number | string>(resolve => child.once('close', (code, signal) => { resolve(code ?? signal ?? 'unknown') }))
  t.teardown(async () => {
    child.kill('SIGTERM')
    await exited
  })
  const ended = (): boolean => child.exitCode !== null || child.signalCode !== null
  return {
    pid: child.pid ?? 0,
    output: () => output,
    printed: async text => { await waitFor(`'${text}' in the output`, () => output.includes(text) || ended()).then(() => { t.match(output, text) }) },
    events: () => readEvents(directory),
    signal: name => { child.kill(name) },
    exited
  }
}

/** The process id in the latest note that a stand-in is ready; waits for the given number of such notes. */
export async function readyPid (directory: string, name: 'api' | 'worker', times = 1): Promise<number> {
  const notes = await waitFor(`${name} being ready for the ${times}. time`, () => {
    const found = readEvents(directory).filter(event => event.startsWith(`${name} ready `))
    return found.length >= times && found
  })
  return Number(notes.at(-1)?.split(' ').at(-1))
}

/** Whether a process exists. */
export function isAlive (pid: number): boolean {
  return orElse(() => process.kill(pid, 0), false)
}

function readEvents (directory: string): string[] {
  return orElse(() => readFileSync(join(directory, 'events'), 'utf8').trimEnd().split('\n'), [])
}
