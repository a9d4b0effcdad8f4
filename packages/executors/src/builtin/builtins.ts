import type { CommandHost } from '../command/run-command.ts'
import { createExec } from './exec/exec-command.ts'
import { readWorkspaceFile } from './file/read-file.ts'
import { writeWorkspaceFile } from './file/write-file.ts'
import type { BuiltinHandler } from './handler.ts'
import { searchFiles } from './search/file-search.ts'
import { createFindInFiles } from './search/find-in-files.ts'
import { findRipgrep } from './search/ripgrep.ts'
import { deleteEntry } from './tree/delete-entry.ts'
import { listDirectory } from './tree/list-directory.ts'
import { moveEntry } from './tree/move-entry.ts'
import { statEntry } from './tree/stat-entry.ts'
import { createFetchPage, type FetchPolicy } from './web/fetch-page.ts'
import { createSearchWeb, type WebSearchPolicy } from './web/search-web.ts'

/** What the built-in tools may do beside the workspace; a tool whose part is absent isn't there. */
export interface BuiltinOptions {
  exec?: { /** Absolute paths of programs, or names on the PATH. */ allowlist: readonly string[] }
  fetch?: FetchPolicy
  webSearch?: WebSearchPolicy
  workspaceDelete?: boolean
}

/** Makes the built-in tools, by job type. */
export function createBuiltins (options: BuiltinOptions, host: CommandHost): ReadonlyMap<string, BuiltinHandler> {
  const builtins = new Map<string, BuiltinHandler>([
    ['data.file_read', readWorkspaceFile],
    ['data.write_file', writeWorkspaceFile],
    ['tools.file_search', searchFiles],
    ['tools.find_in_files', createFindInFiles(findRipgrep(host.env, host))],
    ['workspace.list', listDirectory],
    ['workspace.stat', statEntry],
    ['workspace.move', moveEntry]
  ])
  if (options.workspaceDelete === true) builtins.set('workspace.delete', deleteEntry)
  if (options.exec !== undefined) builtins.set('tool.exec', createExec(options.exec.allowlist, host))
  if (options.fetch !== undefined) builtins.set('data.fetch', createFetchPage(options.fetch))
  if (options.webSearch !== undefined) builtins.set('tools.web_search', createSearchWeb(options.webSearch))
  return builtins
}
