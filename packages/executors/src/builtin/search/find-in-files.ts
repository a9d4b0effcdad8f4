import type { Threads } from '@toolyard/runtime/threads'
import { integerArgument, textsArgument } from '../kit/arguments.ts'
import { BuiltinFailure, type BuiltinHandler } from '../kit/handler.ts'
import { writeCursor } from './cursor.ts'
import { queryChars } from './line-pattern.ts'
import { askThread, atSearchBase } from './search-base.ts'
import type { ContentResult, LineQuery } from './walk/task.ts'

const maxResults = { min: 1, max: 500, default: 100 }
const contextLines = { min: 0, max: 10, default: 0 }

/**
 * Makes `tools.find_in_files`: lines of the workspace's files that contain `query`, a text or, with `regex`,
 * an expression of RE2's syntax; in the order of paths. Returns `{ok, query, base_path, matches: [{path, line, column,
 * text, before?, after?}], match_count, has_more, truncated, skipped_binary_files, next_cursor?}`: line and column from
 * 1, column in UTF-16 units, `skipped_binary_files` those that have a match.
 */
export function createFindInFiles (threads: Threads): BuiltinHandler {
  return async (args, context) => {
    const wanted = queryOf(args)
    const limit = integerArgument(args['max_results'], maxResults)
    const named = textsArgument(args['files'])
    return await atSearchBase(named.length === 0 ? args : { ...args, path: '.' }, context, async scope => {
      const files = named.length === 0 ? undefined : named
      const task = { ...scope, limit, find: { kind: 'contents', ...wanted, files } } as const
      const { results, hasMore, truncated, next, skippedBinary } = await askThread<ContentResult>(threads, task, context)
      return {
        ok: true,
        query: wanted.query,
        base_path: scope.base,
        matches: results,
        match_count: results.length,
        has_more: hasMore,
        truncated,
        skipped_binary_files: skippedBinary,
        ...(next === undefined ? {} : { next_cursor: writeCursor(next) })
      }
    })
  }
}

/** The query as it is: white space may be what is looked for. */
function queryOf (args: Readonly<Record<string, unknown>>): LineQuery {
  const query = args['query']
  if (typeof query !== 'string' || query === '') throw new BuiltinFailure('query is required')
  if (query.length > queryChars) throw new BuiltinFailure(`query must be at most ${queryChars} characters`)
  if (/[\r\n]/.test(query)) throw new BuiltinFailure('query must be one line: lines are searched one by one')
  return {
    query,
    regex: args['regex'] === true,
    caseSensitive: args['case_sensitive'] === true,
    contextLines: integerArgument(args['context_lines'], contextLines)
  }
}
