import { asError } from '@toolyard/contract/terms'
import { BuiltinFailure } from '../kit/handler.ts'
import type { ThreadAnswer } from '@toolyard/runtime/threads'
import { searchContents } from './content-search.ts'
import { searchNames } from './walk/name-search.ts'
import type { SearchTask } from './walk/task.ts'

/**
 * Does a search, for a thread: it waits for the disk and for expressions.
 *
 * @throws BuiltinFailure for an expression that can't be compiled.
 */
export function runSearch (task: SearchTask): ThreadAnswer {
  try {
    return { answer: task.find.kind === 'names' ? searchNames(task, task.find.query) : searchContents(task, task.find) }
  } catch (error) {
    if (!asError(error).name.startsWith('RE2JS')) throw error
    throw new BuiltinFailure(`query is not a regular expression of RE2's syntax: ${asError(error).message}`)
  }
}
