import { Worker } from 'node:worker_threads'
import { BuiltinFailure } from '../handler.ts'
import type { SearchAnswer, SearchTask } from './task.ts'

/** Memory of one search's thread, in MiB. */
const memoryMb = 256

/**
 * Runs a search in a thread of its own, so that neither the disk nor an expression keeps the worker's process waiting.
 * The thread has ended when this settles.
 *
 * @throws BuiltinFailure for an expression that can't be compiled, or a search that needs too much memory.
 */
export async function runSearch<Result> (task: SearchTask, signal: AbortSignal): Promise<SearchAnswer<Result>> {
  const thread = new Worker(new URL('./thread.js', import.meta.url), { workerData: task, execArgv: [], env: {}, stdout: false, stderr: false, resourceLimits: { maxOldGenerationSizeMb: memoryMb } })
  const stop = (): void => { void thread.terminate() }
  signal.addEventListener('abort', stop, { once: true })
  try {
    return resultOf<Result>(await messageOf<Result>(thread))
  } finally {
    signal.removeEventListener('abort', stop)
    await thread.terminate()
  }
}

interface ThreadMessage<Result> {
  answer?: SearchAnswer<Result>
  error?: string
  refused?: boolean
}

async function messageOf<Result> (thread: Worker): Promise<ThreadMessage<Result>> {
  return await new Promise((resolve, reject) => {
    thread.once('message', resolve)
    thread.once('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new BuiltinFailure('the search needs too much memory; narrow it down with path or glob') : error)
    })
    thread.once('exit', () => { reject(new BuiltinFailure('the search was stopped')) })
  })
}

function resultOf<Result> ({ answer, error, refused }: ThreadMessage<Result>): SearchAnswer<Result> {
  if (answer !== undefined) return answer
  if (refused === true) throw new BuiltinFailure(`query is not a regular expression of RE2's syntax: ${error}`)
  throw new Error(`the search failed: ${error}`)
}
