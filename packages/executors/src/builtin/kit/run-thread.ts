import { callErrors, isRecord } from '@toolyard/contract/terms'
import type { CallErrorCode } from '@toolyard/contract'
import { ThreadError, type ThreadOptions, type Threads, type ThreadWork } from '@toolyard/runtime/threads'
import { callerErrors } from '../../run/create-threads.ts'
import { BuiltinFailure } from './handler.ts'

/** The error of a built-in tool whose thread got too little time or memory. */
interface ThreadTexts {
  time: string
  memory: string
}

/**
 * Runs a part of a built-in tool in a thread.
 *
 * @throws BuiltinFailure that the part threw, or with one of the texts; ThreadError for a bug.
 */
export async function runInThread<Answer> (
  threads: Threads, work: ThreadWork, options: ThreadOptions, texts: ThreadTexts
): Promise<Answer> {
  try {
    return await threads.run<Answer>(work, options)
  } catch (error) {
    if (!(error instanceof ThreadError)) throw error
    if (error.reason !== 'thrown') throw new BuiltinFailure(texts[error.reason])
    const { name, code, details } = error.thrown
    throw callerErrors.has(name) ? new BuiltinFailure(error.message, isCallErrorCode(code) ? code : 'INTERNAL', isRecord(details) ? details : undefined) : error
  }
}

function isCallErrorCode (code: unknown): code is CallErrorCode {
  return typeof code === 'string' && Object.hasOwn(callErrors, code)
}
