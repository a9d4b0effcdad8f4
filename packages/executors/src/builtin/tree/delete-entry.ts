import { rmdir, unlink } from 'node:fs/promises'
import { atPlace, deleteTree, entryPath, refusal } from '@toolyard/workspace'
import { textArgument } from '../kit/arguments.ts'
import { BuiltinFailure, type BuiltinHandler } from '../kit/handler.ts'

/**
 * `workspace.delete`: removes a file or link (never what it leads to), or a directory: an empty one, or with
 * `recursive` all that is in it. Returns `{ok, path, type, deleted_count}`.
 */
export const deleteEntry: BuiltinHandler = async (args, context) => {
  const path = textArgument(args['path'])
  if (path === '') throw new BuiltinFailure('path is required')
  return await atPlace(context, path, { notFound: 'path not found', keepLink: true }, async ({ root, directory, name, relative, stats }) => {
    if (name === '.') throw new BuiltinFailure('the workspace itself cannot be deleted')
    if (stats?.isDirectory() !== true) {
      await unlink(entryPath(directory, name))
      return { ok: true, path: relative, type: stats?.isSymbolicLink() === true ? 'link' : 'file', deleted_count: 1 }
    }
    if (root.service.isBelow(entryPath(directory, name))) throw refusal()
    if (args['recursive'] === true) return { ok: true, path: relative, type: 'directory', deleted_count: await deleteTree(directory, name, context.signal) }
    await rmdir(entryPath(directory, name)).catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'ENOTEMPTY' || error.code === 'EEXIST' ? new BuiltinFailure('directory is not empty (set recursive=true to delete what is in it)') : error
    })
    return { ok: true, path: relative, type: 'directory', deleted_count: 1 }
  })
}
