import { errorCode, storedJson } from '@toolyard/contract/terms'
import { within } from '@toolyard/runtime'
import { spawn, type ChildProcess, type ChildProcessByStdio } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { Server, Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as turn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { helperLost } from '../plan/start-error.ts'
import type { HelperGroups } from '../table/groups.ts'
import { childEnding, type ChildEnding } from './child.ts'
import type { HelperMessage, JoinMessage, LetGoMessage, ListenMessage, MakePipesMessage, StartMessage } from './messages.ts'
import { createPatience } from './patience.ts'

const program = fileURLToPath(new URL('helper.js', import.meta.url))
/** A heap as small as may be: its memory is what every start copies. */
const nodeOptions = ['--no-warnings', '--max-semi-space-size=1', '--max-old-space-size=64', '--v8-pool-size=1']
/** A helper does nothing but start processes. One that says nothing for so many seconds while it is asked is stuck, and given up. */
const patienceSec = 10
/** How long it may take to end, in milliseconds. */
export const closeMs = 2_000
const lost: ChildEnding = { kind: 'abort', reason: helperLost }

export interface Launched {
  pid: number
  /** A code that says why it couldn't be bounded: it is to be ended. */
  refused: string | undefined
  exited: Promise<ChildEnding>
  /** Ends the helper's hold on its stdin. */
  letGo: () => void
}

export interface HelperPlace {
  /** A command line in front of the helper's. */
  prefix: readonly string[]
  /** A private directory for what stdin, stdout and stderr lead to, and the same behind a read-only mount; absent: one in the open. */
  channels?: { directory: string, view: number }
  /** The helper is in a network namespace of its own, on whose loopback the worker serves what it starts. */
  network?: {
    at: ListenMessage['at']
    /** Gets the listeners by their places in `at`, as far as they can be had, and a process in the namespace that owns the network. */
    onListening: (servers: ReadonlyArray<Server | undefined>, owner: number) => void
    /** The helper is gone, and with it what it has started. */
    onLost: () => void
  }
}

export interface HelperProcess {
  /**
   * Rejects with an error that has a `code`: `HELPER_LOST` when the helper was not asked, `HELPER_DIED` when it ended before
   * it answered, so that it isn't known whether the process was started.
   */
  start (message: Omit<StartMessage, 'id' | 'kind'>): Promise<Launched>
  makePipes (paths: string[]): Promise<void>
  /** Puts it into control groups, and with it all that it starts from now on. */
  join (groups: HelperGroups): Promise<void>
  /** Takes its listeners from it, once. */
  listen (at: ListenMessage['at']): Promise<{ servers: ReadonlyArray<Server | undefined>, owner: number }>
  isAlive (): boolean
  close (): Promise<void>
}

interface Waiting {
  answered: (message: HelperMessage | undefined) => void
  ended: (ending: ChildEnding) => void
}

/** Starts the helper. Its only variable is PATH. The helper has the limits of its place, and what it starts inherits them. */
export function startHelper ({ prefix, channels, network }: HelperPlace): HelperProcess {
  const [command = process.execPath, ...args] = [...prefix, process.execPath, ...nodeOptions, program, ...(channels === undefined ? [] : ['boxed'])]
  const child = spawnHelper(command, args, channels === undefined ? [] : [channels.view], network !== undefined)
  const servers = new Map<number, Server>()
  child.on('message', (message: { index: number }, handle) => { if (handle instanceof Server) servers.set(message.index, handle) })
  child.channel?.unref()
  let unspawned: string | undefined
  child.once('error', error => { if (child.pid === undefined) unspawned = errorCode(error) })
  // Without descriptors left, Node makes no streams, whatever its types say.
  if ((child.stdin as Writable | undefined) === undefined) throw Object.assign(new Error('no helper'), { code: 'EMFILE' })
  const waiting = new Map<number, Waiting>()
  let alive = true
  let closing = false
  let count = 0
  const gone = new Promise<void>(resolve => { child.once('close', () => { resolve() }).once('error', () => { resolve() }) })
  void gone.then(() => {
    alive = false
    network?.onLost()
    for (const { answered, ended } of waiting.values()) {
      answered(undefined)
      ended(lost)
    }
    waiting.clear()
  })
  child.stdin.on('error', () => {})
  // While no caller waits for it, it keeps no process alive: it ends with this process.
  const held = [child, ...[child.stdin, child.stdout].filter(stream => stream instanceof Socket)]
  const letGo = (): void => { if (waiting.size === 0 && !closing) for (const each of held) each.unref() }
  const hold = (): void => { for (const each of held) each.ref() }
  letGo()
  const patience = createPatience(patienceSec, () => { child.kill('SIGKILL') })
  readLines(child, message => {
    patience.heard()
    const call = waiting.get(message.id)
    if (message.kind === 'ended') call?.ended(childEnding(message.code, message.signal))
    else call?.answered(message)
    if (message.kind !== 'started') waiting.delete(message.id)
    letGo()
  })

  async function ask (message: Omit<StartMessage, 'id'> | Omit<MakePipesMessage, 'id'> | Omit<JoinMessage, 'id'> | Omit<ListenMessage, 'id'>, whenLost: 'HELPER_LOST' | 'HELPER_DIED' = 'HELPER_LOST'): Promise<{ id: number, answer: HelperMessage, exited: Promise<ChildEnding> }> {
    if (!alive) throw Object.assign(new Error('the helper is lost'), { code: unspawned ?? 'HELPER_LOST' })
    const id = count++
    let ended: Waiting['ended'] = () => {}
    const exited = new Promise<ChildEnding>(resolve => { ended = resolve })
    const answer = await new Promise<HelperMessage | undefined>(resolve => {
      hold()
      patience.asked()
      waiting.set(id, { answered: resolve, ended })
      child.stdin.write(`${JSON.stringify({ id, ...message })}\n`)
    }).finally(() => { patience.answered() })
    if (answer === undefined) throw Object.assign(new Error('the helper died'), { code: unspawned ?? whenLost })
    if (answer.kind === 'failed') throw Object.assign(new Error('not started'), { code: answer.error })
    return { id, answer, exited }
  }

  return {
    async start (message) {
      const { id, answer, exited } = await ask({ kind: 'start', ...message }, 'HELPER_DIED')
      if (answer.kind !== 'started') throw new Error('The helper answered a start with something else')
      const letGo = (): void => { if (alive) child.stdin.write(`${JSON.stringify({ kind: 'let-go', id } satisfies LetGoMessage)}\n`) }
      return { pid: answer.pid, refused: answer.refused, exited, letGo }
    },
    async makePipes (paths) { await ask({ kind: 'make-pipes', paths }) },
    async join (groups) { await ask({ kind: 'join', ...groups }) },
    async listen (at) {
      const { answer } = await ask({ kind: 'listen', at })
      if (answer.kind !== 'listening') throw new Error('The helper answered a question for listeners with something else')
      // Handles come over a channel of their own, and may be behind the answer.
      const expected = at.length - answer.unheard.length
      const until = performance.now() + closeMs
      while (servers.size < expected && performance.now() < until) await turn(1)
      return { servers: at.map((_, index) => servers.get(index)), owner: answer.owner }
    },
    isAlive: () => alive,
    async close () {
      closing = true
      hold()
      child.stdin.end()
      if (await within(closeMs, gone.then(() => true)) === undefined) child.kill('SIGKILL')
      await gone
    }
  }
}

type Helper = ChildProcessByStdio<Writable, Readable, null>

function spawnHelper (command: string, args: readonly string[], view: readonly number[], passesHandles: boolean): Helper {
  const proc = openSync('/proc', 'r')
  try {
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- What `stdio` below makes; the types don't tell.
    return spawn(command, args, {
      cwd: '/',
      env: { NODE_V8_COVERAGE: undefined, PATH: process.env['PATH'] },
      // Signals of a terminal to the worker are not for those that stand between the two.
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore', ...view, proc, ...(passesHandles ? ['ipc' as const] : [])]
    }) as Helper
  } finally {
    closeSync(proc)
  }
}

function readLines (child: ChildProcess, take: (message: HelperMessage) => void): void {
  let rest = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) take(storedJson(line))
  })
}
