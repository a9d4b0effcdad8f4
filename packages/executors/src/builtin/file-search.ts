import { stat } from 'node:fs/promises'
import { integerArgument, textArgument } from './arguments.ts'
import { BuiltinFailure, type BuiltinHandler } from './handler.ts'
import { walkDirectory } from './directory-walk.ts'
import { resolveInWorkspace, workspaceRelative } from './workspace-path.ts'

const maxResults = { min: 1, max: 200, default: 30 }
/** Entries of directories that one search looks at. */
const maxScanned = 200_000

/**
 * `tools.file_search` (R8, R47, RC38, X11): files and directories whose path from the workspace contains `query`, in
 * any case, each directory sorted by name and before its contents. Returns `{ok, query, base_path,
 * results: [{path, type}], result_count, has_more, truncated, scanned}`: `has_more` when there are more than
 * `max_results`, `truncated` when the search stopped after 200,000 entries.
 */
export const searchFiles: BuiltinHandler = async (args, { workspaceDir, signal }) => {
  const query = textArgument(args['query'])
  if (query === '') throw new BuiltinFailure('query is required')
  const base = await resolveInWorkspace(workspaceDir, textArgument(args['path']) || '.', 'path not found')
  if (!(await stat(base.absolute)).isDirectory()) throw new BuiltinFailure('path is not a directory')

  const limit = integerArgument(args['max_results'], maxResults)
  const walk = walkDirectory(base, { includeHidden: args['include_hidden'] === true, maxScanned, signal })
  const results: Array<{ path: string, type: 'file' | 'directory' }> = []
  const wanted = query.toLowerCase()
  for await (const entry of walk.entries) {
    const path = workspaceRelative(base.root, entry.absolute)
    if (!path.toLowerCase().includes(wanted)) continue
    const type = await entry.type()
    if (type !== undefined) results.push({ path, type })
    if (results.length > limit) break
  }
  return {
    ok: true,
    query,
    base_path: base.relative,
    results: results.slice(0, limit),
    result_count: Math.min(results.length, limit),
    has_more: results.length > limit,
    truncated: walk.truncated(),
    scanned: walk.scanned()
  }
}
