import { Worker, type TransferListItem } from 'node:worker_threads'
import { onAbort } from '../abort/on-abort.ts'
import { OwnerTurns, TurnMissedError } from '../process/owner-turns.ts'
import { steadyMs } from './steady-ms.ts'

/** Threads that wait for the next work, and how long, in milliseconds: a new one costs more than most work. */
const idleMs = 30_000
/** What waits has its own signal; this is the most that a timer takes, in milliseconds. */
const longestWaitMs = 2 ** 31 - 1
/** How long after its own time work may take to notice, in milliseconds. */
const lateMs = 2_000

/** Plain data. */
export interface ThreadWork {
  /** One that the thread's file knows. */
  kind: string
  task: unknown
}

export interface ThreadsOptions {
  /** Heap of one thread, in MiB; default 256. */
  memoryMb?: number
  /** Pieces of work at once; what is beyond waits, and owners take turns. Without it none does. */
  most?: number
  /** The same for each owner: however much work one has, that of others begins at once. */
  mostOfOwner?: number
  /** Threads that wait for the next work; default 2. */
  maxIdle?: number
}

export interface ThreadAnswer {
  answer: unknown
  /** Parts of the answer that are handed over instead of copied. */
  move?: TransferListItem[]
}

export interface ThreadOptions {
  /** Whose work it is, where pieces may have to wait. */
  owner?: string
  /** When the work should be done, by `steadyMs`; a thread that isn't is ended a little later. */
  until?: number
  /** In place of it: how long the work may take from its beginning, in milliseconds. */
  ms?: number
  signal?: AbortSignal
  /** Parts of the task that are handed over instead of copied. */
  move?: TransferListItem[]
}

/** Why there is no answer: the time or the memory is over, or what the work itself threw. */
export class ThreadError extends Error {
  override readonly name = 'ThreadError'
  readonly reason: 'time' | 'memory' | 'thrown'
  readonly thrown: { name?: string, code?: unknown, details?: unknown }

  constructor (reason: ThreadError['reason'], message: string, thrown: ThreadError['thrown'] = {}) {
    super(message)
    this.reason = reason
    this.thrown = thrown
  }
}

interface ThreadMessage {
  answer?: unknown
  error?: { name?: string, message: string, code?: unknown, details?: unknown }
}

/**
 * Runs work in threads, so that neither the disk nor a hostile text keeps the process waiting. A thread is new,
 * busy with one piece of work, idle, or ended: after interrupted work, after some idle time, and after work that failed
 * otherwise than for its caller. What such a thread could not load then, it never could.
 */
export class Threads {
  readonly #file: URL
  readonly #callerErrors: ReadonlySet<unknown>
  readonly #options: Required<ThreadsOptions>
  readonly #idle = new Map<Worker, NodeJS.Timeout>()
  readonly #turns: OwnerTurns

  /**
   * @param file the compiled file that a thread runs: it calls `serveThread`.
   * @param callerErrors names of errors that work throws for its caller.
   */
  constructor (file: URL, callerErrors: ReadonlySet<unknown> = new Set(), options: ThreadsOptions = {}) {
    this.#file = file
    this.#callerErrors = callerErrors
    this.#options = { memoryMb: 256, most: Infinity, mostOfOwner: Infinity, maxIdle: 2, ...options }
    this.#turns = new OwnerTurns(this.#options.most, this.#options.mostOfOwner)
  }

  /** @throws ThreadError; the reason of the signal. */
  async run<Answer> (work: ThreadWork, options: ThreadOptions): Promise<Answer> {
    const { owner = '', signal } = options
    const patience = { ms: longestWaitMs, ...(signal === undefined ? {} : { signal }) }
    try {
      return await this.#turns.run(owner, async () => await this.#runNow<Answer>(work, options), patience)
    } catch (error) {
      if (error instanceof TurnMissedError) signal?.throwIfAborted()
      throw error
    }
  }

  async #runNow<Answer> (work: ThreadWork, { until = Infinity, ms, signal, move = [] }: ThreadOptions): Promise<Answer> {
    signal?.throwIfAborted()
    const thread = this.#take()
    const stop = (): void => { void thread.terminate() }
    const late = setTimeout(stop, ms ?? Math.max(0, until - steadyMs()) + lateMs)
    const offAbort = onAbort([signal], stop)
    try {
      thread.postMessage(work, move)
      const { answer, error } = await messageOf(thread)
      if (error === undefined || this.#callerErrors.has(error.name)) this.#keep(thread)
      if (error !== undefined) throw new ThreadError('thrown', error.message, error)
      // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- Who gives the work knows the code that answers.
      return answer as Answer
    } finally {
      clearTimeout(late)
      offAbort()
      if (!this.#idle.has(thread)) await thread.terminate()
    }
  }

  /** Ends the threads that are idle. */
  async close (): Promise<void> {
    await Promise.all([...this.#idle.keys()].map(thread => this.#end(thread)))
  }

  #take (): Worker {
    const [thread] = this.#idle.keys()
    if (thread === undefined) return this.#start()
    clearTimeout(this.#idle.get(thread))
    this.#idle.delete(thread)
    thread.ref()
    return thread
  }

  #keep (thread: Worker): void {
    if (this.#idle.size >= this.#options.maxIdle) return
    this.#idle.set(thread, setTimeout(() => { void this.#end(thread) }, idleMs).unref())
    thread.unref()
  }

  async #end (thread: Worker): Promise<void> {
    this.#forget(thread)
    await thread.terminate()
  }

  #forget (thread: Worker): void {
    clearTimeout(this.#idle.get(thread))
    this.#idle.delete(thread)
  }

  /** Its environment is empty. */
  #start (): Worker {
    const thread = new Worker(this.#file, { execArgv: [], env: {}, resourceLimits: { maxOldGenerationSizeMb: this.#options.memoryMb } })
    // A caller that waits gets it too; an error of an idle thread concerns no call.
    thread.on('error', () => {}).once('exit', () => { this.#forget(thread) })
    return thread
  }
}

/** The memory of bytes that share it with no others: it can be handed over. */
export function movable ({ buffer, byteLength }: Uint8Array): ArrayBuffer[] {
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : []
}

/** Bytes that came from a thread, without a copy. */
export function bufferOf ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

async function messageOf (thread: Worker): Promise<ThreadMessage> {
  return await new Promise((resolve, reject) => {
    const settle = (then: () => void): void => {
      thread.off('message', onMessage).off('error', onError).off('exit', onExit)
      then()
    }
    const onMessage = (message: ThreadMessage): void => { settle(() => { resolve(message) }) }
    const onError = (error: NodeJS.ErrnoException): void => { settle(() => { reject(threadError(error)) }) }
    const onExit = (): void => { settle(() => { reject(new ThreadError('time', 'the thread was ended before its work was done')) }) }
    thread.on('message', onMessage).on('error', onError).on('exit', onExit)
  })
}

function threadError (error: NodeJS.ErrnoException): Error {
  return error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new ThreadError('memory', 'the thread has used up its memory') : error
}
