import { readWorkspaceFile } from './file-read.ts'
import { searchFiles } from './file-search.ts'
import type { BuiltinHandler } from './handler.ts'

/** The built-in tools by job type. */
export const builtins: ReadonlyMap<string, BuiltinHandler> = new Map([
  ['data.file_read', readWorkspaceFile],
  ['tools.file_search', searchFiles]
])
