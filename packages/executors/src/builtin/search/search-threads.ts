import { Worker } from 'node:worker_threads'
import { BuiltinFailure } from '../handler.ts'
import type { SearchAnswer, SearchTask } from './task.ts'

/** Memory of one thread, in MiB. */
const memoryMb = 256
/** Threads that wait for the next search, and how long, in milliseconds: a new one costs more than most searches. */
const maxIdle = 2
const idleMs = 30_000
/** How long after its own time a search may take to notice, in milliseconds. */
const lateMs = 2_000

interface ThreadMessage<Result> {
  answer?: SearchAnswer<Result>
  error?: string
  refused?: boolean
}

/**
 * Runs each search in a thread of its own, so that neither the disk nor an expression keeps the worker's process
 * waiting. A thread is new, busy with one search, idle, or ended: after an interrupted search, or after some idle time.
 */
export class SearchThreads {
  readonly #idle = new Map<Worker, NodeJS.Timeout>()

  /**
   * Fulfilled with what was found until `task.until`.
   *
   * @throws BuiltinFailure for an expression that can't be compiled, and for a search that needs too much time or memory.
   */
  async run<Result> (task: SearchTask, signal: AbortSignal): Promise<SearchAnswer<Result>> {
    signal.throwIfAborted()
    const thread = this.#take()
    const late = setTimeout(() => { void thread.terminate() }, Math.max(0, task.until - Date.now()) + lateMs)
    const stop = (): void => { void thread.terminate() }
    signal.addEventListener('abort', stop, { once: true })
    try {
      thread.postMessage(task)
      const message = await messageOf<Result>(thread)
      this.#keep(thread)
      return resultOf(message)
    } finally {
      clearTimeout(late)
      signal.removeEventListener('abort', stop)
      if (!this.#idle.has(thread)) await thread.terminate()
    }
  }

  /** Ends the threads that are idle. */
  async close (): Promise<void> {
    await Promise.all([...this.#idle.keys()].map(thread => this.#end(thread)))
  }

  #take (): Worker {
    const [thread] = this.#idle.keys()
    if (thread === undefined) return startThread()
    clearTimeout(this.#idle.get(thread))
    this.#idle.delete(thread)
    thread.ref()
    return thread
  }

  #keep (thread: Worker): void {
    if (this.#idle.size >= maxIdle) return
    this.#idle.set(thread, setTimeout(() => { void this.#end(thread) }, idleMs).unref())
    thread.unref()
  }

  async #end (thread: Worker): Promise<void> {
    clearTimeout(this.#idle.get(thread))
    this.#idle.delete(thread)
    await thread.terminate()
  }
}

/** It sees nothing of the environment. */
function startThread (): Worker {
  const thread = new Worker(new URL('./thread.js', import.meta.url), { execArgv: [], env: {}, resourceLimits: { maxOldGenerationSizeMb: memoryMb } })
  // Whoever waits for it hears of it too; an error of an idle thread concerns nobody.
  thread.on('error', () => {})
  return thread
}

async function messageOf<Result> (thread: Worker): Promise<ThreadMessage<Result>> {
  return await new Promise((resolve, reject) => {
    const settle = (then: () => void): void => {
      thread.off('message', onMessage).off('error', onError).off('exit', onExit)
      then()
    }
    const onMessage = (message: ThreadMessage<Result>): void => { settle(() => { resolve(message) }) }
    const onError = (error: NodeJS.ErrnoException): void => { settle(() => { reject(threadFailure(error)) }) }
    const onExit = (): void => { settle(() => { reject(new BuiltinFailure('the search takes too long; simplify the expression or narrow it down with path or glob')) }) }
    thread.on('message', onMessage).on('error', onError).on('exit', onExit)
  })
}

function threadFailure (error: NodeJS.ErrnoException): Error {
  return error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new BuiltinFailure('the search needs too much memory; narrow it down with path or glob') : error
}

function resultOf<Result> ({ answer, error, refused }: ThreadMessage<Result>): SearchAnswer<Result> {
  if (answer !== undefined) return answer
  if (refused === true) throw new BuiltinFailure(`query is not a regular expression of RE2's syntax: ${error}`)
  throw new Error(`the search failed: ${error}`)
}
