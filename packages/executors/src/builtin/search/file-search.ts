import type { Threads } from '@toolyard/runtime/threads'
import { integerArgument, textArgument } from '../kit/arguments.ts'
import { BuiltinFailure, type BuiltinHandler } from '../kit/handler.ts'
import { writeCursor } from './cursor.ts'
import { askThread, atSearchBase } from './search-base.ts'
import type { NameResult } from './walk/task.ts'

const maxResults = { min: 1, max: 200, default: 30 }

/**
 * Makes `tools.file_search`: files and directories whose path from the workspace contains `query`, in
 * any case, each directory sorted by name and before its contents; without what `.gitignore` files name, unless
 * `include_ignored`. Returns `{ok, query, base_path, results: [{path, type}], result_count, has_more, truncated,
 * scanned, next_cursor?}`: `has_more` when there are more than `max_results`, `truncated` when the time ended first;
 * `next_cursor` goes on from there.
 */
export function createFileSearch (threads: Threads): BuiltinHandler {
  return async (args, context) => {
    const query = textArgument(args['query'])
    if (query === '') throw new BuiltinFailure('query is required')
    return await atSearchBase(args, context, async scope => {
      const task = { ...scope, limit: integerArgument(args['max_results'], maxResults), find: { kind: 'names', query } } as const
      const { results, hasMore, truncated, next, scanned } = await askThread<NameResult>(threads, task, context)
      return {
        ok: true,
        query,
        base_path: scope.base,
        results,
        result_count: results.length,
        has_more: hasMore,
        truncated,
        scanned,
        ...(next === undefined ? {} : { next_cursor: writeCursor(next) })
      }
    })
  }
}
