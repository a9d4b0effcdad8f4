import { availableParallelism } from 'node:os'
import { Threads, type ThreadsOptions } from '@toolyard/runtime/threads'

/** The names of errors that work throws for its caller. */
export const callerErrors: ReadonlySet<unknown> = new Set(['BuiltinFailure', 'WorkspaceFailure'])

/** Threads of one owner: with more of them than processors, the worker's own thread would get too little to keep its locks. */
const mostOfOwner = Math.max(4, availableParallelism())

export function createThreads (options: ThreadsOptions = {}): Threads {
  return new Threads(new URL('../thread.js', import.meta.url), callerErrors, { mostOfOwner, ...options })
}
