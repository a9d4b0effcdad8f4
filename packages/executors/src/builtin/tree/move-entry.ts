import { asError, errorCode } from '@toolyard/contract/terms'
import { rename } from 'node:fs/promises'
import { atPlace, checkTexts, entryPath, lookAgain, refusal, removeSpecialBits, type Place, type WriteTurns } from '@toolyard/workspace'
import { textArgument } from '../kit/arguments.ts'
import { BuiltinFailure, type BuiltinContext, type BuiltinHandler } from '../kit/handler.ts'

/**
 * Makes `workspace.move`: renames a file, directory or link of the workspace; a link itself, not what it leads to. Replaces a
 * file only with `overwrite`, and never a directory; a moved file loses its setuid,
 * setgid and sticky bits. Returns `{ok, from, to, overwritten}`.
 */
export function createMoveEntry (turns: WriteTurns): BuiltinHandler {
  return async (args, context) => await moveEntry(args, context, turns)
}

async function moveEntry (args: Readonly<Record<string, unknown>>, context: BuiltinContext, turns: WriteTurns): Promise<object> {
  const [from, to] = [textArgument(args['from']), textArgument(args['to'])]
  if (from === '' || to === '') throw new BuiltinFailure(`${from === '' ? 'from' : 'to'} is required`)
  const overwrite = args['overwrite'] === true
  const target = { notFound: 'path not found', mayBeMissing: true, keepLink: true, makeParents: args['mkdir_p'] === true, missingParent: 'parent directory does not exist (set mkdir_p=true)' }
  return await atPlace(context, from, { notFound: 'path not found', keepLink: true }, async source => {
    if (source.name === '.') throw new BuiltinFailure('the workspace itself cannot be moved')
    if (source.root.service.isBelow(entryPath(source.directory, source.name))) throw refusal()
    return await atPlace(context, to, target, async end => {
      // Writers of the target wait until it is in place.
      return await turns.run(
        { directory: end.directory, name: end.name, signal: context.signal }, check => move(source, end, { overwrite, check })
      )
    })
  })
}

async function move (source: Place, end: Place, { overwrite, check }: { overwrite: boolean, check: () => void }): Promise<object> {
  const { stats } = await lookAgain(end)
  if (stats?.isDirectory() === true) throw new BuiltinFailure('target is a directory (name the path of the moved entry itself)')
  if (stats !== undefined && !overwrite) throw new BuiltinFailure('target exists (set overwrite=true to replace it)')
  if (stats === undefined) checkTexts([end.name])
  removeSpecialBits(source)
  check()
  try {
    await rename(entryPath(source.directory, source.name), entryPath(end.directory, end.name))
  } catch (error) {
    throw renameFailure(error)
  }
  return { ok: true, from: source.relative, to: end.relative, overwritten: stats !== undefined }
}

function renameFailure (error: unknown): Error {
  const code = errorCode(error)
  if (code === 'EINVAL') return new BuiltinFailure('a directory cannot be moved into itself')
  return code === 'ENOENT' ? new BuiltinFailure('path not found') : asError(error)
}
