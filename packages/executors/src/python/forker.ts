import type { Duplex } from 'node:stream'
import type { Mark, Marks } from '../process/mark.ts'
import { readProcess } from '../process/process-table.ts'
import type { TreeRoot } from '../process/tree.ts'
import { createDeferred, type Deferred } from './deferred.ts'
import { createFrameReader, decodeFrame, encodeFrame, type Message } from './frames.ts'
import type { Connections, Guest, Reception } from './reception.ts'

/** How a forked process ended. `lost`: nobody can tell, because the process that forked it is gone. */
export type ForkEnding = { kind: 'exit', code: number } | { kind: 'signal', signal: NodeJS.Signals } | { kind: 'lost' }

/** A process that was forked, is connected, and waits for its first message. */
export interface ForkedProcess extends Connections {
  root: TreeRoot
  /** Fulfilled when it ended and was reaped. */
  ended: Promise<ForkEnding>
  /** To be called when nothing of it is left. */
  release: () => void
}

export type Fork =
  | { kind: 'forked', process: ForkedProcess }
  /** Not forked: a source file isn't any more what was imported. */
  | { kind: 'stale' }
  /** Not forked: the machine is out of processes or memory. */
  | { kind: 'refused', cause: string }
  /** The forking process is gone, or does not answer. */
  | { kind: 'lost' }

/** A Python process that forks others: a host or a template. */
export interface Forker {
  fork (): Promise<Fork>
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

/** Takes over the control connection of a forking process, `pid`. The messages are in `forker.py`. */
export function createForker (pid: number, control: Duplex, { marks, reception }: ForkerService): Forker {
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

  function request (token: string, mark: Mark | undefined): Child {
    const child = { answered: createDeferred<Message | undefined>(), ended: createDeferred<ForkEnding>() }
    if (control.destroyed) {
      lose(child)
      return child
    }
    count += 1
    children.set(count, child)
    control.write(encodeFrame({ id: count, token, mark: mark ?? null }))
    return child
  }

  async function connect (child: Child, guest: Guest, mark: Mark | undefined): Promise<Fork> {
    const answer = await child.answered.promise
    const childPid = Number(answer?.['pid'])
    if (!Number.isSafeInteger(childPid)) return refusalOf(answer)
    const connections = await Promise.race([guest.connected, child.ended.promise.then(() => undefined)])
    if (connections === undefined) return { kind: 'lost' }
    const entry = readProcess(childPid)
    // A module that is imported in the forker could send messages of its own, and have any process killed.
    if (process.platform === 'linux' && entry?.parent !== pid) {
      connections.control.destroy()
      connections.output.destroy()
      return { kind: 'lost' }
    }
    const root = { pid: childPid, started: entry?.started, mark }
    const release = (): void => { marks.release(mark) }
    return { kind: 'forked', process: { ...connections, root, ended: child.ended.promise, release } }
  }

  return {
    closed,
    async fork () {
      const guest = reception.expect()
      const mark = marks.take()
      const stuck = setTimeout(() => { control.destroy() }, patienceMs)
      const fork = await connect(request(guest.token, mark), guest, mark)
      clearTimeout(stuck)
      guest.dismiss()
      if (fork.kind !== 'forked') marks.release(mark)
      return fork
    }
  }
}

function lose ({ answered, ended }: Child): void {
  answered.resolve(undefined)
  ended.resolve({ kind: 'lost' })
}

function endingOf ({ exit, signal }: Message): ForkEnding | undefined {
  if (typeof exit === 'number') return { kind: 'exit', code: exit }
  return typeof signal === 'string' ? { kind: 'signal', signal: signal as NodeJS.Signals } : undefined
}

function refusalOf (answer: Message | undefined): Fork {
  if (answer === undefined) return { kind: 'lost' }
  return answer['stale'] === true ? { kind: 'stale' } : { kind: 'refused', cause: String(answer['error']) }
}
