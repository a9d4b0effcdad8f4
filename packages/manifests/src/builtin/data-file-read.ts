import type { BuiltinDeclaration } from './declaration.ts'

export const dataFileRead: BuiltinDeclaration = {
  name: 'data_file_read',
  jobType: 'data.file_read',
  description: 'Read a UTF-8 text file from workspace.',
  timeoutSec: 30,
  idempotent: true,
  permissions: ['read_repo'],
  parameters: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'Workspace-relative file path.' },
      max_bytes: { type: 'integer', minimum: 512, maximum: 1_048_576 },
      start_line: { type: 'integer', minimum: 1, description: 'First line to read, from 1. With max_lines it reads a range of lines.' },
      max_lines: { type: 'integer', minimum: 1, description: 'How many lines to read.' },
      start_byte: { type: 'integer', minimum: 0, description: 'Offset of the first byte to read; not together with lines.' },
      encoding: { type: 'string', enum: ['utf8', 'base64'], description: 'base64 reads binary files, into content_base64.' }
    },
    required: ['path'],
    additionalProperties: false
  }
}
