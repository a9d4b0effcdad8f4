import { createHash } from 'node:crypto'
import { atPlace, entryKind, modifiedAt, openFile, readFully, type Place } from '@toolyard/workspace'
import { textArgument } from '../kit/arguments.ts'
import { BuiltinFailure, type BuiltinContext, type BuiltinHandler } from '../kit/handler.ts'
import { pieceTurn } from '../kit/piece-turn.ts'

/** Bytes up to which a file has a hash in the answer, and bytes that are read at once. */
const hashedBytes = 104_857_600
const chunkBytes = 262_144

/**
 * `workspace.stat`: one file or directory, through links. Returns `{ok, path, type, size, mode, modified_at, sha256?}`:
 * size in bytes, mode in octal digits, time in ISO 8601; `sha256` of files up to 100 MiB, as `data.write_file` wants it.
 */
export const statEntry: BuiltinHandler = async (args, context) => {
  const path = textArgument(args['path'])
  if (path === '') throw new BuiltinFailure('path is required')
  return await atPlace(context, path, { notFound: 'path not found' }, async place => {
    const { stats } = place
    if (stats === undefined) throw new BuiltinFailure('path not found')
    return {
      ok: true,
      path: place.relative,
      type: entryKind(stats),
      size: stats.size,
      mode: (stats.mode & 0o7777).toString(8).padStart(4, '0'),
      modified_at: modifiedAt(stats).toISOString(),
      ...(stats.isFile() && stats.size <= hashedBytes ? { sha256: await hash(place, context) } : {})
    }
  })
}

async function hash (place: Place, context: BuiltinContext): Promise<string> {
  const { handle, size } = openFile(place)
  try {
    const sum = createHash('sha256')
    for (let position = 0; position < size; position += chunkBytes) {
      const chunk = await readFully(handle, position, Math.min(chunkBytes, size - position))
      await pieceTurn(context)
      sum.update(chunk)
    }
    return sum.digest('hex')
  } finally {
    handle.close()
  }
}
