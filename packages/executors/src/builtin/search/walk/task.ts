/** Plain data, for a thread. */
export interface SearchTask {
  /** Descriptor of the directory that is searched, open as long as the thread runs. */
  fd: number
  /** Its path, where descriptors have none. */
  absolute: string
  /** The workspace: its descriptor, open as long, and its paths. */
  root: { fd: number, paths: readonly string[] }
  /** Not searched: absolute paths. */
  serviceFiles: readonly string[]
  /** From the workspace; `.` for the workspace itself. */
  base: string
  includeHidden: boolean
  /** Whether ignored files are searched too. */
  includeIgnored: boolean
  /** Only paths that match; without a slash, names. */
  glob: string | undefined
  /** The results that another page ended with. */
  after: Cursor | undefined
  limit: number
  /** When to stop with what is there, by `steadyMs`. */
  until: number
  find: { kind: 'names', query: string } | ({ kind: 'contents' } & ContentQuery)
}

export interface LineQuery {
  query: string
  regex: boolean
  caseSensitive: boolean
  contextLines: number
}

export interface ContentQuery extends LineQuery {
  /** Files to search instead of walking, as the caller names them; the base is the workspace. Nothing hides or ignores them. */
  files: readonly string[] | undefined
}

/** The text of a `.gitignore`, and where it is: from the workspace, `` for the workspace itself. */
export interface IgnoreRules {
  directory: string
  text: string
}

/** A place in the order of results. */
export interface Cursor {
  path: string
  line?: number
}

export interface NameResult {
  path: string
  type: 'file' | 'directory'
}

export interface ContentResult {
  path: string
  /** From 1. */
  line: number
  /** From 1, in UTF-16 units. */
  column: number
  text: string
  before?: string[]
  after?: string[]
}

export interface SearchAnswer<Result> {
  /** At most `limit`. */
  results: Result[]
  hasMore: boolean
  /** Whether the search stopped before it had seen everything. */
  truncated: boolean
  /** Where the next page begins, when there may be one. */
  next: Cursor | undefined
  /** Entries of directories that were looked at. */
  scanned: number
  /** Binary files that have a match, which isn't shown. */
  skippedBinary: number
}
