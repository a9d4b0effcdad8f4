import type { BuiltinDeclaration } from './declaration.ts'

/** Reads a text file of the workspace (R7, RC30). */
export const dataFileRead: BuiltinDeclaration = {
  name: 'data_file_read',
  jobType: 'data.file_read',
  description: 'Read a UTF-8 text file from workspace.',
  timeoutSec: 30,
  parameters: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'Workspace-relative file path.' },
      max_bytes: { type: 'integer', minimum: 512, maximum: 1_048_576 }
    },
    required: ['path'],
    additionalProperties: false
  }
}
