import { textArgument } from '../kit/arguments.ts'
import type { Threads } from '../../run/threads.ts'
import { BuiltinFailure, type BuiltinContext } from '../kit/handler.ts'
import { runInThread } from '../kit/run-thread.ts'
import { inDirectory } from '../workspace/in-directory.ts'
import { openFile, readFully } from '../workspace/open-file.ts'
import { atPlace } from '../workspace/place.ts'
import { readCursor } from './cursor.ts'
import type { IgnoreRules, SearchAnswer, SearchTask } from './task.ts'

/** A search without what it looks for. */
export type SearchScope = Omit<SearchTask, 'limit' | 'find'>

/** Part of the execution timeout after which a search answers with what it has, and the most it takes, in milliseconds. */
const timeShare = 0.8
const maxMs = 30_000
/** UTF-16 units of a glob. */
const globChars = 1_000
/** Bytes of one `.gitignore` above the base. */
const ignoreBytes = 1_048_576

/**
 * Opens the directory that `path` names, the workspace when it is missing, and hands what both searches share to `use`.
 *
 * @throws BuiltinFailure `path not found`, `path is not a directory` (RC38).
 */
export async function atSearchBase<T> (args: Readonly<Record<string, unknown>>, context: BuiltinContext, use: (scope: SearchScope) => Promise<T>): Promise<T> {
  const after = readCursor(textArgument(args['cursor']))
  const glob = textArgument(args['glob'])
  if (glob.length > globChars) throw new BuiltinFailure(`glob must be at most ${globChars} characters`)
  return await atPlace(context.workspace, textArgument(args['path']) || '.', { notFound: 'path not found' }, async place => {
    return await inDirectory(place, 'path', async base => await use({
      fd: base.handle.fd,
      absolute: base.absolute,
      root: { fd: place.root.handle.fd, paths: place.root.paths },
      serviceFiles: place.root.service.paths,
      base: place.relative,
      includeHidden: args['include_hidden'] === true,
      ignoreAbove: args['include_ignored'] === true ? undefined : await rulesAbove(place.relative, context),
      glob: glob || undefined,
      after,
      until: Date.now() + Math.min(maxMs, context.timeoutMs * timeShare)
    }))
  })
}

/** Asks a thread: searches wait for the disk, and for expressions and rules that somebody else wrote. */
export async function askThread<Result> (threads: Threads, task: SearchTask, signal: AbortSignal): Promise<SearchAnswer<Result>> {
  return await runInThread(threads, { kind: 'search', task }, { until: task.until, signal }, {
    time: 'the search takes too long; simplify the expression or narrow it down with path or glob',
    memory: 'the search needs too much memory; narrow it down with path or glob'
  })
}

/** The rules of the directories above. */
async function rulesAbove (base: string, context: BuiltinContext): Promise<IgnoreRules[]> {
  if (base === '.') return []
  const names = base.split('/')
  const rules: IgnoreRules[] = []
  for (let depth = 0; depth < names.length; depth++) {
    const directory = names.slice(0, depth).join('/')
    const text = await ignoreText(directory === '' ? '.gitignore' : `${directory}/.gitignore`, context)
    if (text !== undefined) rules.push({ directory, text })
  }
  return rules
}

async function ignoreText (path: string, { workspace }: BuiltinContext): Promise<string | undefined> {
  try {
    return await atPlace(workspace, path, { notFound: 'path not found', keepLink: true }, async place => {
      const { handle, size } = openFile(place)
      try {
        return (await readFully(handle, 0, Math.min(size, ignoreBytes))).toString('utf8')
      } finally {
        handle.close()
      }
    })
  } catch {
    return undefined
  }
}
