import { closedObject, type BuiltinDeclaration } from './declaration.ts'

export const dataFileRead: BuiltinDeclaration = {
  name: 'data_file_read',
  jobType: 'data.file_read',
  description: 'Read a UTF-8 text file from workspace.',
  timeoutSec: 30,
  idempotent: true,
  permissions: ['read_repo'],
  parameters: closedObject({
    path: { type: 'string', description: 'Workspace-relative file path.' },
    max_bytes: { type: 'integer', minimum: 512, maximum: 1_048_576 },
    start_line: { type: 'integer', minimum: 1, description: 'First line to read, from 1. With max_lines it reads a range of lines.' },
    max_lines: { type: 'integer', minimum: 1, description: 'How many lines to read.' },
    start_byte: { type: 'integer', minimum: 0, description: 'Offset of the first byte to read; not together with lines.' },
    encoding: { type: 'string', enum: ['utf8', 'base64'], description: 'base64 reads binary files, into content_base64.' }
  }, ['path'])
}

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
  parameters: closedObject({
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
  }, ['path'])
}

const path = { type: 'string', minLength: 1, description: 'Workspace-relative path.' }

export const workspaceList: BuiltinDeclaration = {
  name: 'workspace_list',
  jobType: 'workspace.list',
  description: 'List one directory of the workspace: name, path, type, size and time of change of each entry.',
  timeoutSec: 30,
  idempotent: true,
  permissions: ['read_repo'],
  parameters: closedObject({
    path: { type: 'string', description: 'Workspace-relative directory; the workspace when left out.' },
    include_hidden: { type: 'boolean' },
    max_results: { type: 'integer', minimum: 1, maximum: 1_000 },
    cursor: { type: 'string', description: 'next_cursor of the page before.' }
  })
}

export const workspaceStat: BuiltinDeclaration = {
  name: 'workspace_stat',
  jobType: 'workspace.stat',
  description: 'Type, size, mode, time of change and SHA-256 of one file or directory of the workspace.',
  timeoutSec: 30,
  idempotent: true,
  permissions: ['read_repo'],
  parameters: closedObject({ path }, ['path'])
}

export const workspaceMove: BuiltinDeclaration = {
  name: 'workspace_move',
  jobType: 'workspace.move',
  description: 'Move or rename a file or directory within the workspace.',
  timeoutSec: 30,
  permissions: ['write_files'],
  parameters: closedObject({
    from: path,
    to: { ...path, description: 'The new path of the entry itself.' },
    overwrite: { type: 'boolean', default: false, description: 'Replace a file that is there.' },
    mkdir_p: { type: 'boolean', default: false, description: 'Make missing parent directories.' }
  }, ['from', 'to'])
}

/** Removes; only while operators allow it. */
export const workspaceDelete: BuiltinDeclaration = {
  name: 'workspace_delete',
  jobType: 'workspace.delete',
  description: 'Delete a file or directory of the workspace. It cannot be undone.',
  timeoutSec: 45,
  permissions: ['write_files'],
  parameters: closedObject({ path, recursive: { type: 'boolean', default: false, description: 'A directory with all that is in it.' } }, ['path'])
}
