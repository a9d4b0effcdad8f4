import { defaultLimits, type ProcessLimits } from '@toolyard/sandbox'
import { createDeferred, type Deferred } from '../wire/deferred.ts'
import { createFrameReader, decodeFrame, encodeFrame, type Message } from '../wire/frames.ts'
import { innerBoxTree, type InnerBoxParent, type InnerBoxTree } from './inner-box-tree.ts'
import type { Connections } from '../wire/connections.ts'
import { createPipeSource } from '../wire/pipes.ts'
import type { CallProcess, ForkEnding } from './process-tree.ts'

export interface ForkedProcess extends CallProcess {
  tree: InnerBoxTree
  hasEnded: () => boolean
}

export type Fork =
  /** `shown`: undefined once the process has been shown its session, else why not; absent without a session. */
  | { kind: 'forked', process: ForkedProcess, shown?: Promise<string | undefined> }
  /** Not forked: a source file isn't any more what was imported. */
  | { kind: 'stale' }
  /** Not forked: the machine is out of processes or memory. */
  | { kind: 'refused', cause: string }
  /** Forked, and ended at once: its inner box could not be made. */
  | { kind: 'unboxed', cause: string }
  /** The forking process is gone, or does not answer. */
  | { kind: 'lost' }

/** A Python process that forks others: a host or a template. */
export interface Forker {
  /** `limits` are those of the new process. */
  fork (limits?: ProcessLimits): Promise<Fork>
  /** Of a host: shows a process the directory of a session in place of the workspace; answers why not. Never rejected. */
  showSession (process: ForkedProcess, session: ShownSession): Promise<string | undefined>
  /** Whether it would still fork, or a source file isn't any more what was imported. */
  check (): Promise<'fresh' | 'stale' | 'lost'>
  /** Fulfilled when it can't be reached any more. */
  closed: Promise<void>
}

export interface ShownSession {
  id: string
  isWritable: boolean
}

/** A process that was asked for; the answer is undefined when none will come. */
interface Child {
  answered: Deferred<Message | undefined>
  ended: Deferred<ForkEnding>
}

const maxMessageBytes = 4_096
/** Messages beyond the two of each request: a module that writes them would keep this process busy as long as its template stands. */
const mostStrays = 16
/** A forker does nothing but fork. One that says nothing for longer, with requests before it, is stuck, and given up. */
export const patienceMs = 10_000

/** Takes over the connections of a forking process. The messages are in `forker.py`. */
export function createForker (self: InnerBoxParent, { requests, replies }: Pick<Connections, 'requests' | 'replies'>): Forker {
  const children = new Map<number, Child>()
  let count = 0
  let heard = 0
  /** By `performance.now()`. */
  let heardAt = 0

  const pipes = createPipeSource(() => self.find())
  const closed = new Promise<void>(resolve => { replies.once('close', () => { resolve() }) }).then(() => {
    pipes.close()
    for (const child of children.values()) lose(child)
    children.clear()
  })
  const read = createFrameReader(maxMessageBytes, content => { handle(decodeFrame(content)) })
  requests.on('error', () => {})
  replies.on('error', () => {}).on('data', (chunk: Buffer) => {
    heardAt = performance.now()
    if (!read(chunk)) replies.destroy()
  })

  function handle (message: Message): void {
    heard += 1
    if (heard > 2 * count + mostStrays) {
      replies.destroy()
      return
    }
    const id = Number(message['id'])
    const child = children.get(id)
    const ending = endingOf(message)
    if (ending !== undefined || message['pid'] === undefined) children.delete(id)
    if (ending === undefined) child?.answered.resolve(message)
    else child?.ended.resolve(ending)
  }

  function request (message: Record<string, unknown>): Child {
    const child = { answered: createDeferred<Message | undefined>(), ended: createDeferred<ForkEnding>() }
    if (replies.destroyed) {
      lose(child)
      return child
    }
    count += 1
    children.set(count, child)
    requests.write(encodeFrame({ id: count, ...message }))
    return child
  }

  /** It does one request after the other: many at once on a busy machine take long, and each answer shows that it isn't stuck. */
  async function inTime<T> (answered: Promise<T>): Promise<T> {
    const askedAt = performance.now()
    const look = (): void => {
      const silentMs = performance.now() - Math.max(askedAt, heardAt)
      if (silentMs >= patienceMs) replies.destroy()
      else timer = setTimeout(look, patienceMs - silentMs)
    }
    let timer = setTimeout(look, patienceMs)
    const answer = await answered
    clearTimeout(timer)
    return answer
  }

  async function connect (child: Child): Promise<Fork> {
    const answer = await child.answered.promise
    const pid = Number(answer?.['pid'])
    if (answer === undefined || !Number.isSafeInteger(pid)) return refusalOf(answer)
    const connections = openPipes(answer)
    const { promise: ended } = child.ended
    if (connections === undefined) {
      const ending = await ended
      return ending.kind === 'unboxed' ? ending : { kind: 'lost' }
    }
    let hasEnded = false
    void ended.then(() => { hasEnded = true })
    return { kind: 'forked', process: { ...connections, tree: innerBoxTree(self, pid, ended), ended, hasEnded: () => hasEnded, release: () => {} } }
  }

  /** Undefined when its inner box could not be made, or it ended at once. */
  function openPipes ({ id, pipes: descriptors }: Message): Connections | undefined {
    const connections = pipes.open(descriptors)
    requests.write(encodeFrame({ opened: id }))
    return connections
  }

  return {
    closed,
    fork: async (processLimits = defaultLimits) => await inTime(connect(request({ limits: processLimits }))),
    async showSession ({ tree }, { id, isWritable }) {
      const init = await tree.initInHost()
      if (init === undefined) return 'its process is gone'
      const answer = await inTime(request({ show: { session: id, init, write: isWritable } }).answered.promise)
      const { shown, unshown } = answer ?? {}
      return shown === true ? undefined : typeof unshown === 'string' ? unshown : 'the Python host is gone'
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
  if (Number.isInteger(exit)) return { kind: 'exit', code: Number(exit) }
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- Python names some that Node doesn't, such as SIGRTMIN.
  return typeof signal === 'string' ? { kind: 'signal', signal: signal as NodeJS.Signals } : undefined
}

function refusalOf (answer: Message | undefined): Fork {
  if (answer === undefined) return { kind: 'lost' }
  return answer['stale'] === true ? { kind: 'stale' } : { kind: 'refused', cause: String(answer['error']) }
}
