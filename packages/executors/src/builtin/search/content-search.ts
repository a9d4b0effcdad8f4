import { ServiceFiles } from '@toolyard/workspace'
import { comparePaths } from './cursor.ts'
import { FileText } from './file-text.ts'
import { givenPaths, openGivenFile } from './given-files.ts'
import { createGlob } from './walk/glob.ts'
import { matchesIn } from './line-matches.ts'
import { compileQuery, type LinePattern } from './line-pattern.ts'
import { baseOf, createWalk } from './walk/name-search.ts'
import type { ContentQuery, ContentResult, SearchAnswer, SearchTask } from './walk/task.ts'
import { openPath, type OpenDirectory, type TreeWalk } from './walk/tree-walk.ts'
import { steadyMs } from '@toolyard/runtime/threads'

/** A file to search; `open` is undefined for what can't be read. */
interface Candidate {
  path: string
  open: (buffer: Buffer) => FileText | undefined
}

/** Finds lines in the files of a tree, in the order of their paths. */
export function searchContents (task: SearchTask, query: ContentQuery): SearchAnswer<ContentResult> {
  const pattern = compileQuery(query)
  const service = new ServiceFiles(task.serviceFiles)
  const base = baseOf(task, service)
  const walk = createWalk(task, service)
  const buffer = FileText.newBuffer()
  const found: Found = { results: [], skippedBinary: 0, timeUp: false, last: undefined }
  for (const candidate of query.files === undefined ? walked(task, walk, { base, service }) : given(task, query.files, { base, service })) {
    if (steadyMs() > task.until) found.timeUp = true
    if (found.timeUp || found.results.length > task.limit) break
    const file = candidate.open(buffer)
    if (file === undefined) continue
    try {
      searchFile(candidate.path, file, { task, query, pattern, found })
      found.last = candidate.path
    } finally {
      file.close()
    }
  }
  return answer(found, walk, task)
}

interface Found {
  results: ContentResult[]
  skippedBinary: number
  timeUp: boolean
  /** The last file that was searched to its end. */
  last: string | undefined
}

interface Search {
  task: SearchTask
  query: ContentQuery
  pattern: LinePattern
  found: Found
}

function searchFile (path: string, file: FileText, { task, query, pattern, found }: Search): void {
  const fromLine = task.after?.path === path ? (task.after.line ?? Infinity) + 1 : 1
  for (const match of matchesIn(file, pattern, query)) {
    if (match === 'block') {
      found.timeUp ||= steadyMs() > task.until
    } else if (file.binary) {
      found.skippedBinary += 1
      return
    } else if (match.line >= fromLine) {
      found.results.push({ path, ...match })
    }
    if (found.timeUp || found.results.length > task.limit) return
  }
}

interface SearchPlace {
  base: OpenDirectory
  service: ServiceFiles
}

function * walked (task: SearchTask, walk: TreeWalk, { base, service }: SearchPlace): Generator<Candidate> {
  const fits = createGlob(task.glob)
  for (const { path, name, dirent, directory } of walk.entries(base)) {
    if (dirent.isFile() && fits(path)) yield { path, open: buffer => FileText.open(openPath(directory, name), buffer, service) }
  }
}

function * given (task: SearchTask, files: readonly string[], { base, service }: SearchPlace): Generator<Candidate> {
  const fits = createGlob(task.glob)
  for (const path of givenPaths(task, files, service).sort(comparePaths)) {
    if (!fits(path) || (task.after !== undefined && comparePaths(path, task.after.path) < 0)) continue
    yield { path, open: buffer => openGivenFile(base, path, { buffer, service }) }
  }
}

function answer ({ results, skippedBinary, timeUp, last }: Found, walk: TreeWalk, { limit }: SearchTask): SearchAnswer<ContentResult> {
  const page = results.slice(0, limit)
  const hasMore = results.length > limit
  const truncated = !hasMore && (timeUp || walk.ended)
  const end = page.at(-1)
  const next = hasMore && end !== undefined
    ? { path: end.path, line: end.line }
    : truncated && last !== undefined ? { path: last } : undefined
  return { results: page, hasMore, truncated, next, scanned: walk.scanned, skippedBinary }
}
