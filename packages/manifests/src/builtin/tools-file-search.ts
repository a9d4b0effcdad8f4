import type { BuiltinDeclaration } from './declaration.ts'

/** Finds files of the workspace by path or name (R8, RC30). */
export const toolsFileSearch: BuiltinDeclaration = {
  name: 'tools_file_search',
  jobType: 'tools.file_search',
  description: 'Search files by path/name under workspace.',
  timeoutSec: 45,
  idempotent: true,
  permissions: ['read_repo'],
  parameters: {
    type: 'object',
    properties: {
      query: { type: 'string', description: 'Part of the path, in any case.' },
      path: { type: 'string', description: 'Directory to search; the workspace when left out.' },
      max_results: { type: 'integer', minimum: 1, maximum: 200 },
      include_hidden: { type: 'boolean' },
      include_ignored: { type: 'boolean', description: 'Also what .gitignore files name.' },
      glob: { type: 'string', description: 'Only paths that match, such as *.ts or src/**/*.md.' },
      cursor: { type: 'string', description: 'next_cursor of the page before.' }
    },
    required: ['query'],
    additionalProperties: false
  }
}
