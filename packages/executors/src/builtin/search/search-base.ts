import { atPlace, inDirectory } from '@toolyard/workspace'
import { textArgument } from '../kit/arguments.ts'
import { steadyMs, type Threads } from '@toolyard/runtime/threads'
import { BuiltinFailure, ownerOfBuiltin, type BuiltinContext } from '../kit/handler.ts'
import { runInThread } from '../kit/run-thread.ts'
import { readCursor } from './cursor.ts'
import type { SearchAnswer, SearchTask } from './walk/task.ts'

/** A search without what it looks for. */
type SearchScope = Omit<SearchTask, 'limit' | 'find'>

/** Part of the execution timeout after which a search answers with what it has, and the most it takes, in milliseconds. */
const timeShare = 0.8
const maxMs = 30_000
/** UTF-16 units of a glob. */
const globChars = 1_000

/**
 * Opens the directory that `path` names, the workspace when it is missing, and hands what both searches share to `use`.
 *
 * @throws BuiltinFailure `path not found`, `path is not a directory`.
 */
export async function atSearchBase<T> (
  args: Readonly<Record<string, unknown>>, context: BuiltinContext, use: (scope: SearchScope) => Promise<T>
): Promise<T> {
  const after = readCursor(textArgument(args['cursor']))
  const glob = textArgument(args['glob'])
  if (glob.length > globChars) throw new BuiltinFailure(`glob must be at most ${globChars} characters`)
  return await atPlace(context, textArgument(args['path']) || '.', { notFound: 'path not found' }, async place => {
    return await inDirectory(place, 'path', async base => await use({
      fd: base.handle.fd,
      absolute: base.absolute,
      root: { fd: place.root.handle.fd, paths: place.root.paths },
      serviceFiles: place.root.service.paths,
      base: place.relative,
      includeHidden: args['include_hidden'] === true,
      includeIgnored: args['include_ignored'] === true,
      glob: glob || undefined,
      after,
      until: steadyMs() + Math.min(maxMs, context.timeoutMs * timeShare)
    }))
  })
}

/** Asks a thread: searches wait for the disk, and for expressions and rules that somebody else wrote. */
export async function askThread<Result> (threads: Threads, task: SearchTask, context: BuiltinContext): Promise<SearchAnswer<Result>> {
  return await runInThread(threads, { kind: 'search', task }, { until: task.until, owner: ownerOfBuiltin(context), signal: context.signal }, {
    time: 'the search takes too long; simplify the expression or narrow it down with path or glob',
    memory: 'the search needs too much memory; narrow it down with path or glob'
  })
}
