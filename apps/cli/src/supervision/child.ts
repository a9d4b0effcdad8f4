import { spawn, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { programEnd } from '@toolyard/runtime/install'
import { onAbort, printable, settingsTold, type ParentAnswer, type ParentQuestion, type ReadyMessage, type WaitingMessage } from '@toolyard/runtime'
import { terminalLine } from '../terminal/log-line.ts'
import type { Running } from './running.ts'
import { StartError } from './start-error.ts'

export interface ChildOptions {
  name: string
  /** Path of the program for Node.js. With the IPC channel that it gets, it says `{ready: true, address?}` once it serves. */
  entry: string
  directory: string
  env: NodeJS.ProcessEnv
  /** Gets all that the child prints; `place` says where that can be read. */
  log: { write: (text: string) => void, place?: string }
  warn: (line: string) => void
  /** How long the child may take to stop before it is killed, in milliseconds. */
  graceMs: number
  /** Kills it at once. */
  force: AbortSignal
}

export interface ReadyChild extends Running {
  /** Where it serves, such as `http://127.0.0.1:3001`, if it said so. */
  address: string | undefined
  /** Its report, beside the address. */
  report: Pick<ReadyMessage, 'tools' | 'sandbox'>
  /** Asks it something; undefined when it has no answer, or gives none within a second. */
  ask: (question: string) => Promise<unknown>
  signal: (signal: NodeJS.Signals) => void
}

/** A part gets so long on top of its grace time to end by itself, in milliseconds: to kill and settle what is left. */
export const extraGraceMs = 6_000
const readyMs = 60_000
const keptLines = 20
const answerMs = 1_000

/**
 * Starts a part of Toolyard and waits until it is ready. The caller shows the warnings about settings. It is in a process group
 * of its own, so that Ctrl-C reaches it only by way of `start`; it stops by itself when its IPC channel closes, should `start` be
 * killed.
 *
 * @param signal stops it while it isn't ready yet
 * @throws StartError with the last lines that it printed when it ends before it is ready.
 */
export async function launchChild (options: ChildOptions, signal: AbortSignal): Promise<ReadyChild> {
  const { name, entry, directory, env } = options
  const child = spawn(process.execPath, [entry], { cwd: directory, env: { ...env, ...settingsTold }, detached: true, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
  const lines = followOutput(child, options)
  const exited = programEnd(child)
  const stop = (): Promise<void> => stopChild(child, exited, options)
  const settled = new AbortController()
  const outcome = await Promise.race([waitForReady(child), exited, waitForAbort(signal, settled.signal), delay(readyMs, 'no word within a minute', { ref: false })])
  settled.abort()
  if (typeof outcome !== 'string') return { address: outcome.address, report: outcome, exited, stop, ask: question => askChild(child, question), signal: name => { child.kill(name) } }
  await stop()
  await Promise.race([lines.ended, delay(500)])
  const last = lines.last()
  throw new StartError([`the ${name} could not start (${outcome})${last.length === 0 ? '.' : ':'}`, ...last.map(line => `  ${line}`)].join('\n'))
}

/** Writes the output to the log and its warnings to the terminal; `last` has the end of what it printed before it was ready. */
function followOutput (child: ChildProcess, { name, log, warn }: ChildOptions): { last: () => string[], ended: Promise<unknown> } {
  const last: string[] = []
  let dropped = 0
  let ready = false
  child.on('message', (message: Partial<ReadyMessage & WaitingMessage>) => {
    if (message.waiting !== undefined) warn(`${name} waits: ${message.waiting}`)
    if (ready || message.ready !== true) return
    ready = true
    if (dropped > 0) warn(leftOut(name, dropped, log.place))
    for (const line of last) warn(line)
  })
  const follow = (line: string): void => {
    log.write(`${printable(line)}\n`)
    const shown = terminalLine(line, name)
    if (shown === undefined) return
    // Before it is ready, a failure is told once, with all of its lines together.
    if (ready) warn(shown)
    else if (last.push(shown) > keptLines) {
      last.shift()
      dropped++
    }
  }
  const streams = [child.stdout, child.stderr].filter(stream => stream !== null)
  for (const input of streams) createInterface({ input }).on('line', follow)
  return { last: () => dropped > 0 ? [leftOut(name, dropped, log.place), ...last] : last, ended: new Promise(resolve => child.once('close', resolve)) }
}

function leftOut (name: string, count: number, place: string | undefined): string {
  return `${name}: ${count} earlier ${count === 1 ? 'message' : 'messages'} of its start ${count === 1 ? 'is' : 'are'} not shown here${place === undefined ? '' : `; read ${place}`}`
}

function waitForReady (child: ChildProcess): Promise<Pick<ReadyChild, 'address'> & ReadyChild['report']> {
  return new Promise(resolve => {
    child.on('message', message => {
      // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- A part of Toolyard sent it.
      const { ready, address, ...report } = message as Partial<ReadyMessage>
      if (ready === true) resolve({ ...report, address })
    })
  })
}

/** Stops listening at `settled`: the signal lives as long as the process and sees many children. */
function waitForAbort (signal: AbortSignal, settled: AbortSignal): Promise<string> {
  return new Promise(resolve => {
    const off = onAbort(signal, () => { resolve('told to stop') })
    onAbort(settled, off)
  })
}

/** Ids of questions need to differ within one child only. */
async function askChild (child: ChildProcess, question: string): Promise<unknown> {
  if (!child.connected) return undefined
  const id = performance.now() + Math.random()
  return await new Promise(resolve => {
    const end = (value: unknown): void => {
      clearTimeout(timer)
      child.off('message', hear)
      resolve(value)
    }
    const hear = (message: Partial<ParentAnswer>): void => { if (message.answer === id) end(message.value) }
    const timer = setTimeout(end, answerMs, undefined)
    child.on('message', hear)
    child.send({ ask: question, id } satisfies ParentQuestion, error => { if (error !== null) end(undefined) })
  })
}

async function stopChild (child: ChildProcess, exited: Promise<string>, { graceMs, force }: ChildOptions): Promise<void> {
  const kill = (): void => { killGroup(child) }
  child.kill('SIGTERM')
  const deadline = setTimeout(kill, graceMs)
  const off = onAbort(force, kill)
  await exited
  clearTimeout(deadline)
  off()
}

/** Kills the child with what it started in its own group. */
function killGroup ({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It ended in this very moment.
  }
}
