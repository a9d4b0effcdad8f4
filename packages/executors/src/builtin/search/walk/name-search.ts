import { ServiceFiles, openWorkspace, walkAtOnce, walkWay, type Workspace, isServiceName } from '@toolyard/workspace'
import { createGlob } from './glob.ts'
import { scopeAbove, readIgnoreFile } from './ignore-rules.ts'
import type { NameResult, SearchAnswer, SearchTask, IgnoreRules } from './task.ts'
import { openPath, TreeWalk, type OpenDirectory, type TreeEntry, openChild } from './tree-walk.ts'
import { closeSync } from 'node:fs'
import { steadyMs } from '@toolyard/runtime/threads'

/** Finds entries whose path contains the query, in any case. */
export function searchNames (task: SearchTask, query: string): SearchAnswer<NameResult> {
  const service = new ServiceFiles(task.serviceFiles)
  const walk = createWalk(task, service)
  const root = openRoot(task, service)
  try {
    return answer(foundNames(task, query, { walk, root }), walk, task)
  } finally {
    root.handle.close()
  }
}

export function createWalk (task: SearchTask, service: ServiceFiles): TreeWalk {
  const { base, includeHidden, includeIgnored, after, until } = task
  const scope = includeIgnored ? undefined : scopeAbove(rulesAbove(task, service), base)
  let asked = 0
  // The clock is read now and then: an entry takes less time than that.
  const isOver = (): boolean => ++asked % 64 === 0 && steadyMs() > until
  return new TreeWalk({ base, service, includeHidden, scope, respectIgnore: !includeIgnored, after: after?.path, isOver })
}

export function baseOf ({ fd, absolute }: SearchTask, service: ServiceFiles): OpenDirectory {
  return { fd, absolute, taken: service.namesIn(fd) }
}

/** One result more than a page has, where there are so many. */
function foundNames (task: SearchTask, query: string, { walk, root }: { walk: TreeWalk, root: Workspace }): NameResult[] {
  const wanted = query.toLowerCase()
  const fits = createGlob(task.glob)
  const results: NameResult[] = []
  for (const entry of walk.entries(baseOf(task, root.service))) {
    // A page that ended with a file begins after it.
    if (entry.path === task.after?.path || !entry.path.toLowerCase().includes(wanted) || !fits(entry.path)) continue
    const type = typeOf(entry, root)
    if (type !== undefined) results.push({ path: entry.path, type })
    if (results.length > task.limit) break
  }
  return results
}

function answer (results: readonly NameResult[], walk: TreeWalk, { limit }: SearchTask): SearchAnswer<NameResult> {
  const page = results.slice(0, limit)
  const hasMore = results.length > limit
  const next = hasMore ? page.at(-1)?.path : walk.ended ? walk.last : undefined
  const { ended: truncated, scanned } = walk
  return { results: page, hasMore, truncated, next: next === undefined ? undefined : { path: next }, scanned, skippedBinary: 0 }
}

/** The workspace, for the thread itself; the caller closes it. */
export function openRoot ({ root: { fd, paths } }: SearchTask, service: ServiceFiles): Workspace {
  return openWorkspace(process.platform === 'linux' ? `/proc/self/fd/${fd}` : paths[0] ?? '', service, paths)
}

/** Links count as what they lead to; undefined for anything else, what lies outside the workspace, and files of the service. */
function typeOf ({ dirent, directory, name, path }: TreeEntry, root: Workspace): NameResult['type'] | undefined {
  if (!dirent.isSymbolicLink()) return root.service.has(openPath(directory, name), dirent) ? undefined : kindOf(dirent)
  try {
    const { directory, stats } = walkAtOnce(walkWay(root, path.split('/'), { keepLink: false, notFound: '' }))
    if (directory !== root) directory.handle.close()
    return stats.of === undefined ? undefined : kindOf(stats.of)
  } catch {
    return undefined
  }
}

function kindOf (entry: { isFile: () => boolean, isDirectory: () => boolean }): NameResult['type'] | undefined {
  if (entry.isFile()) return 'file'
  return entry.isDirectory() ? 'directory' : undefined
}

/** The rules of the directories above the base, from the workspace down; those that can be read. */
function rulesAbove ({ base, root }: Pick<SearchTask, 'base' | 'root'>, service: ServiceFiles): IgnoreRules[] {
  const names = base === '.' ? [] : base.split('/')
  const workspace: OpenDirectory = { fd: root.fd, absolute: root.paths[0] ?? '', taken: service.namesIn(root.fd) }
  const rules: IgnoreRules[] = []
  let here = workspace
  try {
    for (const [depth, name] of names.entries()) {
      const text = isServiceName('.gitignore', here.taken) ? undefined : readIgnoreFile(openPath(here, '.gitignore'))
      if (text !== undefined) rules.push({ directory: names.slice(0, depth).join('/'), text })
      // The base itself is looked into by the walk.
      if (depth === names.length - 1) break
      const above = here
      here = openChild(above, name, service)
      if (above !== workspace) closeSync(above.fd)
    }
  } catch {
    // Somebody has moved the directories meanwhile: what was found holds.
  } finally {
    if (here !== workspace) closeSync(here.fd)
  }
  return rules
}
