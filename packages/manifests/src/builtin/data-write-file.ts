import type { BuiltinDeclaration } from './declaration.ts'

const line = { type: 'integer', minimum: 1 }
const offset = { type: 'integer', minimum: 0 }

export const dataWriteFile: BuiltinDeclaration = {
  name: 'data_write_file',
  jobType: 'data.write_file',
  description: 'Create or change a text file in the workspace. ' +
    'To change part of a file use mode "edit" with old_text (copied exactly from the file, occurring once) and new_text, or mode "apply_patch" with a unified diff. ' +
    'Mode "replace" writes the whole content; "append" and "prepend" add to it; "insert_at" inserts content before start_line; "replace_range" replaces the lines start_line to end_line. ' +
    'For a new file set create_if_missing, and mkdir_p when its directory may not exist.',
  timeoutSec: 45,
  permissions: ['write_files'],
  parameters: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'Workspace-relative file path.' },
      mode: { type: 'string', enum: ['replace', 'append', 'prepend', 'insert_at', 'replace_range', 'edit', 'apply_patch'], default: 'replace' },
      content: { type: 'string', description: 'The text to write (all modes but edit and apply_patch).' },
      content_base64: { type: 'string', description: 'Binary content, instead of content.' },
      old_text: { type: 'string', description: 'Mode edit: the text to replace, exactly as in the file.' },
      new_text: { type: 'string', description: 'Mode edit: what replaces it; may be empty.' },
      patch: { type: 'string', description: 'Mode apply_patch: a unified diff of this one file.' },
      start_line: { ...line, description: 'insert_at: the line to insert before. replace_range: the first line replaced. Lines count from 1.' },
      end_line: { ...line, description: 'replace_range: the last line replaced; start_line when left out.' },
      offset: { ...offset, description: 'insert_at without lines: offset in characters.' },
      start: { ...offset, description: 'replace_range without lines: offset of the first character replaced.' },
      end: { ...offset, description: 'replace_range without lines: offset after the last character replaced.' },
      create_if_missing: { type: 'boolean', default: false },
      mkdir_p: { type: 'boolean', default: false, description: 'Make missing parent directories.' },
      dry_run: { type: 'boolean', default: false, description: 'Change nothing; return the diff.' },
      expected_sha256: { type: 'string', pattern: '^[A-Fa-f0-9]{64}$', description: 'Refuse when the file has another hash (see workspace_stat).' },
      max_bytes: { type: 'integer', minimum: 512, maximum: 10_485_760, description: 'Largest size that the file may get.' }
    },
    required: ['path'],
    additionalProperties: false
  }
}
