import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { closing } from '../end/drain.ts'
import { childEnding, type Child, type OwnEnding } from './child.ts'
import { handedVariables, type ProcessPlan } from '../plan/plan.ts'
import { isShortage } from '../plan/start-error.ts'
import { inTurns, readProcessTable, signalGroup, signalProcess, type ProcessEntry } from '../table/process-table.ts'

/*
 * Processes without a box, for development: each leads a group of its own, which is ended as a whole, with its descendants in
 * the process table. What has left both is not found. Where there is no /proc only the group is ended.
 */
const pauseMs = 5
/** A process in an uninterruptible wait dies later than any signal; a run isn't held up for longer than this. */
const patienceMs = 5_000

/** `link`: the other end of its descriptor 3. */
interface OpenChild extends Child {
  exited: Promise<OwnEnding>
  link: Socket | undefined
}

/** Starts one. With `link` it has a descriptor 3. Rejects with an error whose `code` says why it can't be started. */
export async function startOpen (plan: ProcessPlan, stdin: string | undefined, link = false): Promise<OpenChild> {
  const { input, writing, reading, handed } = await openStreams(stdin, plan.handed?.map(({ text }) => text) ?? [])
  const readerOf = (fd = -1): Socket => new Socket({ fd, readable: true, writable: false })
  const [stdout, stderr] = [readerOf(reading[0]), readerOf(reading[1])]
  const streams = [stdout, stderr]
  const release = (): void => { for (const stream of streams) stream.destroy() }
  try {
    await turnOfStart()
    const child = spawn(plan.program, plan.args, {
      cwd: plan.cwd,
      ...(plan.name === undefined ? {} : { argv0: plan.name }),
      // Node adds this variable from its own environment unless it finds it here.
      env: { NODE_V8_COVERAGE: undefined, ...plan.env, ...handedVariables(plan.handed, 3) },
      detached: true,
      stdio: [input, ...writing, ...handed, ...(link ? ['pipe' as const] : [])]
    }).on('error', () => {})
    if (child.pid === undefined) throw (await once(child, 'error'))[0]
    const exited = new Promise<OwnEnding>(resolve => { child.once('exit', (code, signal) => { resolve(childEnding(code, signal)) }) })
    // A process that closes its stdin, or ends without reading it, is no failure.
    child.stdin?.on('error', () => {})
    return {
      pid: child.pid,
      ...(child.stdin === null ? {} : { stdin: child.stdin }),
      // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- What 'pipe' makes of a further descriptor.
      link: child.stdio[3] as Socket | undefined,
      stdout,
      stderr,
      release,
      exited,
      closed: Promise.all([exited, ...streams.map(closing)]).then((): true => true)
    }
  } catch (error) {
    release()
    throw error
  } finally {
    for (const fd of [input, ...writing, ...handed]) if (fd !== 'pipe') closeSync(fd)
  }
}

let lastStart = Promise.resolve()

/** Waits for a turn of the event loop in which no other process is started: the fork of a large one takes 10 ms and more. */
async function turnOfStart (): Promise<void> {
  const before = lastStart
  lastStart = before.then(async () => { await nextTurn() })
  await before
}

/** A file and two pipes with names, which are gone at once: what Node makes are sockets, which can't be opened as /dev/stdout. */
async function openStreams (
  stdin: string | undefined, texts: readonly string[]
): Promise<{ input: number | 'pipe', writing: number[], reading: number[], handed: number[] }> {
  const directory = await mkdtemp(join(tmpdir(), 'toolyard-open-'))
  const input = join(directory, 'in')
  const pipes = ['out', 'err'].map(name => join(directory, name))
  const opened: number[] = []
  const opening = (path: string, flags: number): number => opened[opened.push(openSync(path, flags)) - 1] ?? -1
  try {
    await turnOfStart()
    // The PATH of the service may be empty.
    await promisify(execFile)('mkfifo', pipes, { env: { PATH: '/usr/bin:/bin' } })
    const reading = pipes.map(pipe => opening(pipe, constants.O_RDONLY | constants.O_NONBLOCK))
    const writing = pipes.map(pipe => opening(pipe, constants.O_WRONLY))
    const reader = (path: string, content: string): number => {
      writeFileSync(path, content, { flag: 'wx', mode: 0o400 })
      return opening(path, constants.O_RDONLY)
    }
    const handed = texts.map((text, index) => reader(join(directory, `handed-${index}`), text))
    return { input: stdin === undefined ? 'pipe' : reader(input, stdin), writing, reading, handed }
  } catch (error) {
    for (const fd of opened) closeSync(fd)
    throw isShortage(error) ? error : Object.assign(new Error('no pipes'), { code: 'CHANNELS' })
  } finally {
    await rm(directory, { recursive: true })
  }
}

/** The processes of a call as far as they are known: who descends from whom is only known while the parents live. */
interface Descendants {
  /** Numbers of its groups and sessions. Each of them was made inside of it, so no other process can be in one. */
  groups: Set<number>
  members: Map<number, ProcessEntry>
}

export async function findDescendants (leader: number): Promise<Descendants> {
  const family = { groups: new Set([leader]), members: new Map<number, ProcessEntry>() }
  await livingOf(family)
  return family
}

/**
 * Kills the processes of a call and returns when none is left, with the pids of those that outlived the patience of 5 s. Each
 * round stops what it finds until it finds nothing new, so that nothing can be started behind its back, then kills it all.
 */
export async function killDescendants (leader: number, known?: Descendants): Promise<number[]> {
  const family = known ?? await findDescendants(leader)
  const until = performance.now() + patienceMs
  for (;;) {
    const living = await stopAll(family)
    for await (const { pid } of inTurns(living)) signalProcess(pid, 'SIGKILL')
    signalGroup(leader, 'SIGKILL')
    if (living.length === 0) return []
    if (performance.now() > until) return living.map(({ pid }) => pid)
    await sleep(pauseMs)
  }
}

async function stopAll (family: Descendants): Promise<ProcessEntry[]> {
  const stopped = new Set<number>()
  for (;;) {
    const living = await livingOf(family)
    const moving = living.filter(({ pid }) => !stopped.has(pid))
    if (moving.length === 0) return living
    for await (const { pid } of inTurns(moving)) {
      signalProcess(pid, 'SIGSTOP')
      stopped.add(pid)
    }
  }
}

/** Adds what is new in the process table to a family, until nothing is; each round is one generation. */
async function livingOf ({ groups, members }: Descendants): Promise<ProcessEntry[]> {
  const table = await readProcessTable()
  const isKnown = (entry: ProcessEntry | undefined): boolean => entry !== undefined && members.get(entry.pid)?.started === entry.started
  let rest = [...table.values()].filter(entry => !isKnown(entry))
  for (let before = -1; before !== rest.length;) {
    before = rest.length
    rest = rest.filter(entry => {
      if (!groups.has(entry.group) && !groups.has(entry.session) && !isKnown(table.get(entry.parent))) return true
      members.set(entry.pid, entry)
      groups.add(entry.group).add(entry.session)
      return false
    })
  }
  return [...members.keys()].flatMap(pid => table.get(pid) ?? []).filter(entry => !entry.zombie && isKnown(entry))
}
