import { errorCode, isRecord } from '@toolyard/contract/terms'
import { within } from '@toolyard/runtime'
import type { CallError } from '@toolyard/contract'
import { changeable, storageFailure, WorkspaceFailure } from '@toolyard/workspace'
import { isShortage, shortageError, startDeadline } from '@toolyard/sandbox'
import type { Outcome } from '../run/outcome.ts'
import type { ToolCall } from '../run/tool-call.ts'
import { interruptionError } from '../run/interruption.ts'
import { JsonText, type BuiltinContext, type BuiltinHandler } from './kit/handler.ts'
import { BuiltinWait } from '../run/steps.ts'

/** How long an interrupted handler may take to end what it began, in milliseconds. */
const windDownMs = 5_000

/**
 * Runs a built-in tool until it ends, its timeout passes or its signal aborts. An interrupted handler gets this from its
 * own signal, and has a few seconds to end before the interruption is reported: whatever it still returns is
 * dropped.
 *
 * @throws what the handler throws beside failures and errors of the file system: a bug.
 */
export async function runBuiltin (handler: BuiltinHandler, call: ToolCall): Promise<Outcome> {
  const { context, worker: { serviceFiles = [], declarations } } = call
  const workspace = { path: call.filesDir, serviceFiles, ...declarations !== undefined && { declarations } }
  let stopping: AbortController | undefined
  const stop = (): AbortController => (stopping ??= new AbortController())
  const deadline = startDeadline(context.timeoutMs, context.signal)
  const run = runHandler(handler, call.args, {
    tool: call.tool,
    jobId: context.jobId,
    workspace: call.tool.permissions?.includes('write_files') === true ? changeable(workspace) : workspace,
    processes: call,
    timeoutMs: context.timeoutMs,
    log: context.log,
    progress: context.progress,
    ...(context.steps === undefined ? {} : { steps: context.steps }),
    // The signal is made when a handler asks for it. Most end before that, and making it costs more than all else here.
    get signal () { return stop().signal }
  })
  const interrupted = deadline.interrupted.then(async (interruption): Promise<Outcome> => {
    stop().abort()
    await within(windDownMs, run.catch(() => {}))
    return { ok: false, error: interruptionError(interruption) }
  })
  try {
    // Once interrupted, the handler's own answer to that counts for nothing.
    return await Promise.race([run.then(outcome => stopping?.signal.aborted === true ? interrupted : outcome), interrupted])
  } finally {
    deadline.clear()
    // With a reason: without one, an exception is made that nothing handles.
    stopping?.abort('ended')
  }
}

async function runHandler (handler: BuiltinHandler, args: Record<string, unknown>, context: BuiltinContext): Promise<Outcome> {
  try {
    const output = await handler(args, context)
    return output instanceof JsonText ? { ok: true, output: undefined, json: output.json } : { ok: true, output }
  } catch (error) {
    if (error instanceof BuiltinWait) return { ok: false, error: { code: 'INTERNAL', message: error.message }, wait: error.wait }
    const known = knownError(error, context.tool.idempotent)
    if (known !== undefined) return { ok: false, error: known }
    if (context.signal.aborted) return { ok: false, error: { code: 'JOB_CANCELLED', message: 'Job was cancelled' } }
    throw error
  }
}

/** What an operator can do about an error of the file system. */
const remedies: Record<string, string> = {
  EACCES: '. The user of the worker has no right to do it: an operator gives it one with chown or chmod',
  EPERM: '. The user of the worker has no right to do it: an operator gives it one with chown or chmod',
  EROFS: '. An operator has mounted it read-only'
}

/** The message of a file system error names absolute paths, so only its cause is returned. */
function knownError (error: unknown, mayRepeat: boolean | undefined): CallError | undefined {
  const failure = error instanceof WorkspaceFailure ? error : storageFailure(error)
  if (failure !== undefined) {
    const { code, message, details } = failure
    return details === undefined ? { code, message } : { code, message, details }
  }
  const code = errorCode(error)
  const syscall = isRecord(error) ? error['syscall'] : undefined
  if (code !== undefined && mayRepeat === true && isShortage(error)) return shortageError(code)
  return code === undefined || typeof syscall !== 'string' ? undefined : { code: 'TOOL_FAILED', message: `${syscall} failed: ${code}${remedies[code] ?? ''}` }
}
