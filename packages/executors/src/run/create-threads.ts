import { Threads, type ThreadsOptions } from '@toolyard/runtime/threads'

/** The names of errors that work throws for its caller. */
export const callerErrors: ReadonlySet<unknown> = new Set(['BuiltinFailure', 'WorkspaceFailure'])

export function createThreads (options: ThreadsOptions = {}): Threads {
  return new Threads(new URL('../thread.js', import.meta.url), callerErrors, options)
}
