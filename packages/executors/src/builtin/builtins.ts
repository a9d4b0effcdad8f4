import { WriteTurns, type SharedLocks } from '@toolyard/workspace'
import { createExec } from './exec/exec-command.ts'
import { readWorkspaceFile } from './file/read-file.ts'
import { createWriteFile } from './file/write-file.ts'
import type { Threads } from '@toolyard/runtime/threads'
import type { BuiltinHandler } from './kit/handler.ts'
import { createFileSearch } from './search/file-search.ts'
import { createFindInFiles } from './search/find-in-files.ts'
import { deleteEntry } from './tree/delete-entry.ts'
import { listDirectory } from './tree/list-directory.ts'
import { createMoveEntry } from './tree/move-entry.ts'
import { statEntry } from './tree/stat-entry.ts'
import type { FetchPolicy } from './web/fetch-page.ts'
import type { WebSearchPolicy } from './web/search-web.ts'
import { createRunWorkflow } from './workflow/run-workflow.ts'
import type { ReadYaml } from './workflow/workflow-file.ts'

/** A tool whose part is absent isn't there. */
export interface BuiltinOptions {
  exec?: { /** Absolute paths of programs, or names on the PATH. */ allowlist: readonly string[] }
  fetch?: FetchPolicy
  webSearch?: WebSearchPolicy
  workspaceDelete?: boolean
  workflows?: { readYaml: ReadYaml }
  /** A lock that writers of one file respect in all processes; without it, only those of one process take turns. */
  locks?: SharedLocks
}

export function createBuiltins (options: BuiltinOptions, threads: Threads): ReadonlyMap<string, BuiltinHandler> {
  const turns = new WriteTurns(options.locks)
  const handlers = new Map<string, BuiltinHandler>([
    ['data.file_read', readWorkspaceFile],
    ['data.write_file', createWriteFile({ threads, turns })],
    ['tools.file_search', createFileSearch(threads)],
    ['tools.find_in_files', createFindInFiles(threads)],
    ['workspace.list', listDirectory],
    ['workspace.stat', statEntry],
    ['workspace.move', createMoveEntry(turns)]
  ])
  if (options.workspaceDelete === true) handlers.set('workspace.delete', deleteEntry)
  if (options.workflows !== undefined) handlers.set('workflow.run', createRunWorkflow(options.workflows.readYaml, threads))
  if (options.exec !== undefined) handlers.set('tool.exec', createExec(options.exec.allowlist))
  if (options.fetch !== undefined) handlers.set('data.fetch', lazyFetchPage(options.fetch, threads))
  if (options.webSearch !== undefined) handlers.set('tools.web_search', lazySearchWeb(options.webSearch, threads))
  return handlers
}

/** The HTTP client and the reader of HTML are loaded by `loadCodeOf` where the tool is: a worker that never fetches is smaller without. */
function lazyFetchPage (policy: FetchPolicy, threads: Threads): BuiltinHandler {
  return async (args, context) => {
    const { createFetchPage } = await import('./web/fetch-page.ts')
    return await createFetchPage(policy, threads)(args, context)
  }
}

function lazySearchWeb (policy: WebSearchPolicy, threads: Threads): BuiltinHandler {
  return async (args, context) => {
    const { createSearchWeb } = await import('./web/search-web.ts')
    return await createSearchWeb(policy, threads)(args, context)
  }
}
