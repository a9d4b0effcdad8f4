import type { CallError } from '@toolyard/contract'
import { startDeadline } from '../deadline.ts'
import type { Outcome, RunContext } from '../outcome.ts'
import { interruptionError } from '../result/interruption.ts'
import { BuiltinFailure, type BuiltinContext, type BuiltinHandler } from './handler.ts'

/**
 * Runs a built-in tool until it ends, its timeout passes or its signal aborts. An interrupted handler is told by its
 * own signal; whatever it still returns is dropped.
 *
 * @throws what the handler throws beside failures and errors of the file system: a bug.
 */
export async function runBuiltin (handler: BuiltinHandler, args: Record<string, unknown>, context: RunContext, workspaceDir: string): Promise<Outcome> {
  const stop = new AbortController()
  const deadline = startDeadline(context.timeoutMs, context.signal)
  const interrupted = deadline.interrupted.then((interruption): Outcome => ({ ok: false, error: interruptionError(interruption) }))
  try {
    return await Promise.race([runHandler(handler, args, { workspaceDir, signal: stop.signal }), interrupted])
  } finally {
    deadline.clear()
    stop.abort()
  }
}

async function runHandler (handler: BuiltinHandler, args: Record<string, unknown>, context: BuiltinContext): Promise<Outcome> {
  try {
    return { ok: true, output: await handler(args, context) }
  } catch (error) {
    const known = knownError(error)
    if (known === undefined) throw error
    return { ok: false, error: known }
  }
}

/** The message of a file system error names absolute paths, so only its cause is told. */
function knownError (error: unknown): CallError | undefined {
  if (error instanceof BuiltinFailure) return { code: error.code, message: error.message }
  const { code, syscall } = error as NodeJS.ErrnoException
  return code === undefined || syscall === undefined ? undefined : { code: 'TOOL_FAILED', message: `${syscall} failed: ${code}` }
}
