import type { Duplex } from 'node:stream'
import type { Mark, Marks } from '../process/mark.ts'
import { readProcess } from '../process/process-table.ts'
import { defaultLimits, type ProcessLimits } from '../sandbox/limits.ts'
import { createDeferred, type Deferred } from './deferred.ts'
import { createFrameReader, decodeFrame, encodeFrame, type Message } from './frames.ts'
import { nestTree, type NestParent } from './nest-tree.ts'
import { openTree, type ProcessTree } from './process-tree.ts'
import type { Connections, Guest, Reception } from './reception.ts'

/**
 * How a forked process ended. `unboxed`: it didn't begin, because its nest could not be made. `lost`: nobody can tell,
 * because the process that forked it is gone.
 */
export type ForkEnding = { kind: 'exit', code: number } | { kind: 'signal', signal: NodeJS.Signals } | { kind: 'unboxed', cause: string } | { kind: 'lost' }

/** A process that was forked, is connected, and waits for its first message. */
export interface ForkedProcess extends Connections {
  tree: ProcessTree
  /** What those are children of that it forks itself: its pid, or its nest. */
  self: ForkerProcess
  /** Fulfilled when it ended and was reaped. */
  ended: Promise<ForkEnding>
  hasEnded: () => boolean
  /** To be called when nothing of it is left. */
  release: () => void
}

/** A process that forks: in the open its pid, in a box its nest. */
export type ForkerProcess = { kind: 'open', pid: number } | { kind: 'boxed', nest: NestParent }

export type Fork =
  | { kind: 'forked', process: ForkedProcess }
  /** Not forked: a source file isn't any more what was imported. */
  | { kind: 'stale' }
  /** Not forked: the machine is out of processes or memory. */
  | { kind: 'refused', cause: string }
  /** Forked, and ended at once: its nest could not be made. */
  | { kind: 'unboxed', cause: string }
  /** The forking process is gone, or does not answer. */
  | { kind: 'lost' }

/** A Python process that forks others: a host or a template. */
export interface Forker {
  /** `limits` are those of the new process; without effect in the open. */
  fork (limits?: ProcessLimits): Promise<Fork>
  /** Whether it would still fork, or a source file isn't any more what was imported. */
  check (): Promise<'fresh' | 'stale' | 'lost'>
  /** Fulfilled when it can't be reached any more. */
  closed: Promise<void>
}

/** What forkers of one worker share. */
export interface ForkerService {
  marks: Marks
  reception: Reception
}

/** A process that was asked for; the answer is undefined when none will come. */
interface Child {
  answered: Deferred<Message | undefined>
  ended: Deferred<ForkEnding>
}

const maxMessageBytes = 4_096
/** A forker does nothing but fork. One that takes longer is stuck, and given up. */
const patienceMs = 10_000

/** Takes over the control connection of a forking process. The messages are in `forker.py`. */
export function createForker (self: ForkerProcess, control: Duplex, { marks, reception }: ForkerService): Forker {
  const children = new Map<number, Child>()
  let count = 0

  const closed = new Promise<void>(resolve => { control.once('close', () => { resolve() }) }).then(() => {
    for (const child of children.values()) lose(child)
    children.clear()
  })
  const read = createFrameReader(maxMessageBytes, content => { handle(decodeFrame(content)) })
  control.on('error', () => {}).on('data', (chunk: Buffer) => { if (!read(chunk)) control.destroy() })

  function handle (message: Message): void {
    const id = Number(message['id'])
    const child = children.get(id)
    const ending = endingOf(message)
    if (ending !== undefined || message['pid'] === undefined) children.delete(id)
    if (ending === undefined) child?.answered.resolve(message)
    else child?.ended.resolve(ending)
  }

  function request (message: Record<string, unknown>): Child {
    const child = { answered: createDeferred<Message | undefined>(), ended: createDeferred<ForkEnding>() }
    if (control.destroyed) {
      lose(child)
      return child
    }
    count += 1
    children.set(count, child)
    control.write(encodeFrame({ id: count, ...message }))
    return child
  }

  async function inTime<T> (answered: Promise<T>): Promise<T> {
    const stuck = setTimeout(() => { control.destroy() }, patienceMs)
    const answer = await answered
    clearTimeout(stuck)
    return answer
  }

  async function connect (child: Child, guest: Guest, mark: Mark | undefined): Promise<Fork> {
    const answer = await child.answered.promise
    const childPid = Number(answer?.['pid'])
    if (!Number.isSafeInteger(childPid)) return refusalOf(answer)
    const connections = await Promise.race([guest.connected, child.ended.promise])
    if ('kind' in connections) return connections.kind === 'unboxed' ? connections : { kind: 'lost' }
    const born = birthOf(childPid, mark, child.ended.promise)
    if (born === undefined) {
      connections.control.destroy()
      connections.output.destroy()
      return { kind: 'lost' }
    }
    const release = (): void => { marks.release(mark) }
    let ended = false
    void child.ended.promise.then(() => { ended = true })
    return { kind: 'forked', process: { ...connections, ...born, ended: child.ended.promise, hasEnded: () => ended, release } }
  }

  /** Undefined for what isn't a child of the forker. */
  function birthOf (pid: number, mark: Mark | undefined, ended: Promise<ForkEnding>): Pick<ForkedProcess, 'tree' | 'self'> | undefined {
    if (self.kind === 'boxed') {
      const nest = nestTree(self.nest, pid, ended)
      return { tree: nest, self: { kind: 'boxed', nest } }
    }
    const entry = readProcess(pid)
    // A module that is imported in the forker could send messages of its own, and have any process killed.
    if (process.platform === 'linux' && entry?.parent !== self.pid) return undefined
    return { tree: openTree({ pid, started: entry?.started, mark }), self: { kind: 'open', pid } }
  }

  return {
    closed,
    async fork (processLimits = defaultLimits) {
      const guest = reception.expect()
      // A nest needs none.
      const mark = self.kind === 'open' ? marks.take() : undefined
      const fork = await inTime(connect(request({ token: guest.token, mark: mark ?? null, limits: processLimits }), guest, mark))
      guest.dismiss()
      if (fork.kind !== 'forked') marks.release(mark)
      return fork
    },
    async check () {
      const answer = await inTime(request({ check: true }).answered.promise)
      if (answer === undefined) return 'lost'
      return answer['stale'] === true ? 'stale' : 'fresh'
    }
  }
}

function lose ({ answered, ended }: Child): void {
  answered.resolve(undefined)
  ended.resolve({ kind: 'lost' })
}

function endingOf ({ exit, signal, unboxed }: Message): ForkEnding | undefined {
  if (typeof unboxed === 'string') return { kind: 'unboxed', cause: unboxed }
  if (typeof exit === 'number') return { kind: 'exit', code: exit }
  return typeof signal === 'string' ? { kind: 'signal', signal: signal as NodeJS.Signals } : undefined
}

function refusalOf (answer: Message | undefined): Fork {
  if (answer === undefined) return { kind: 'lost' }
  return answer['stale'] === true ? { kind: 'stale' } : { kind: 'refused', cause: String(answer['error']) }
}
