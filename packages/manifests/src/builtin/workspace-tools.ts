import type { BuiltinDeclaration } from './declaration.ts'

const path = { type: 'string', minLength: 1, description: 'Workspace-relative path.' }

export const workspaceList: BuiltinDeclaration = {
  name: 'workspace_list',
  jobType: 'workspace.list',
  description: 'List one directory of the workspace: name, path, type, size and time of change of each entry.',
  timeoutSec: 30,
  idempotent: true,
  permissions: ['read_repo'],
  parameters: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'Workspace-relative directory; the workspace when left out.' },
      include_hidden: { type: 'boolean' },
      max_results: { type: 'integer', minimum: 1, maximum: 1_000 },
      cursor: { type: 'string', description: 'next_cursor of the page before.' }
    },
    additionalProperties: false
  }
}

export const workspaceStat: BuiltinDeclaration = {
  name: 'workspace_stat',
  jobType: 'workspace.stat',
  description: 'Type, size, mode, time of change and SHA-256 of one file or directory of the workspace.',
  timeoutSec: 30,
  idempotent: true,
  permissions: ['read_repo'],
  parameters: { type: 'object', properties: { path }, required: ['path'], additionalProperties: false }
}

export const workspaceMove: BuiltinDeclaration = {
  name: 'workspace_move',
  jobType: 'workspace.move',
  description: 'Move or rename a file or directory within the workspace.',
  timeoutSec: 30,
  permissions: ['write_files'],
  parameters: {
    type: 'object',
    properties: {
      from: path,
      to: { ...path, description: 'The new path of the entry itself.' },
      overwrite: { type: 'boolean', default: false, description: 'Replace a file that is there.' },
      mkdir_p: { type: 'boolean', default: false, description: 'Make missing parent directories.' }
    },
    required: ['from', 'to'],
    additionalProperties: false
  }
}

/** Removes; only while operators allow it. */
export const workspaceDelete: BuiltinDeclaration = {
  name: 'workspace_delete',
  jobType: 'workspace.delete',
  description: 'Delete a file or directory of the workspace. It cannot be undone.',
  timeoutSec: 45,
  permissions: ['write_files'],
  parameters: {
    type: 'object',
    properties: { path, recursive: { type: 'boolean', default: false, description: 'A directory with all that is in it.' } },
    required: ['path'],
    additionalProperties: false
  }
}
