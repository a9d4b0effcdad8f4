import { realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { wayInside } from '../workspace/way.ts'
import { createGlob } from './glob.ts'
import { scopeAbove } from './ignore-rules.ts'
import type { NameResult, SearchAnswer, SearchTask } from './task.ts'
import { TreeWalk, type TreeEntry } from './tree-walk.ts'

/** Finds entries whose path contains the query, in any case. */
export function searchNames (task: SearchTask, query: string): SearchAnswer<NameResult> {
  const wanted = query.toLowerCase()
  const fits = createGlob(task.glob)
  const walk = createWalk(task)
  const results: NameResult[] = []
  for (const entry of walk.entries(task)) {
    // A page that ended with a file begins after it.
    if (entry.path === task.after?.path || !entry.path.toLowerCase().includes(wanted) || !fits(entry.path)) continue
    const type = typeOf(entry, task.root)
    if (type !== undefined) results.push({ path: entry.path, type })
    if (results.length > task.limit) break
  }
  const page = results.slice(0, task.limit)
  const hasMore = results.length > task.limit
  const next = hasMore ? page.at(-1)?.path : walk.ended ? walk.last : undefined
  return { results: page, hasMore, truncated: walk.ended, next: next === undefined ? undefined : { path: next }, scanned: walk.scanned, skippedBinary: 0 }
}

/** The walk that a task asks for. */
export function createWalk ({ base, includeHidden, ignoreAbove, after, until }: SearchTask): TreeWalk {
  const scope = scopeAbove(ignoreAbove, base)
  let asked = 0
  // The clock is read now and then: an entry takes less time than that.
  const isOver = (): boolean => ++asked % 64 === 0 && Date.now() > until
  return new TreeWalk({ base, includeHidden, scope, respectIgnore: ignoreAbove !== undefined, after: after?.path, isOver })
}

/** Links count as what they lead to; undefined for anything else and for what lies outside the workspace. */
function typeOf ({ dirent, path }: TreeEntry, root: string): NameResult['type'] | undefined {
  if (!dirent.isSymbolicLink()) return kindOf(dirent)
  try {
    const target = realpathSync(join(root, path))
    return wayInside(root, target) === undefined ? undefined : kindOf(statSync(target))
  } catch {
    return undefined
  }
}

function kindOf (entry: { isFile: () => boolean, isDirectory: () => boolean }): NameResult['type'] | undefined {
  if (entry.isFile()) return 'file'
  return entry.isDirectory() ? 'directory' : undefined
}
