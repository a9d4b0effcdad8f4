import type { BuiltinDeclaration } from './declaration.ts'

/** Finds files of the workspace by path or name (R8, RC30). */
export const toolsFileSearch: BuiltinDeclaration = {
  name: 'tools_file_search',
  jobType: 'tools.file_search',
  description: 'Search files by path/name under workspace.',
  timeoutSec: 45,
  parameters: {
    type: 'object',
    properties: {
      query: { type: 'string' },
      path: { type: 'string' },
      max_results: { type: 'integer', minimum: 1, maximum: 200 },
      include_hidden: { type: 'boolean' }
    },
    required: ['query'],
    additionalProperties: false
  }
}
