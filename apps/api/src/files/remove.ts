import { HttpError } from '@toolyard/contract'
import { atPlace, deleteTree, entryPath, lookAgain, refusal, type Place, type WriteTurns } from '@toolyard/workspace'
import { rmdir, unlink } from 'node:fs/promises'
import { checkConditions, tagOf } from './conditions.ts'
import { lstatSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { noSuchFile } from './file-error.ts'
import { bytesFreedBy, type FileSpace } from './file-space.ts'

export interface Removal {
  names: readonly string[]
  recursive: boolean
  headers: IncomingHttpHeaders
}

/** Removes a file, a link itself, or a directory: an empty one, or with `recursive` all that is in it. */
export async function removeFile (space: FileSpace, { names, recursive, headers }: Removal, turns: WriteTurns): Promise<void> {
  await atPlace(space, names.join('/') || '.', { notFound: noSuchFile, mayBeMissing: true, keepLink: true }, async place => {
    const { root, directory, name, stats } = place
    if (name === '.') throw new HttpError('CONFLICT', 'The workspace itself is not removed')
    if (stats === undefined) throw new HttpError('NOT_FOUND', noSuchFile)
    const path = entryPath(directory, name)
    checkConditions(headers, tagOf(lstatSync(path, { bigint: true })))
    if (!stats.isDirectory()) {
      await turns.run({ directory, name, signal: space.signal }, async check => { await removeEntry(space, place, { headers, check }) })
      return
    }
    if (root.service.isBelow(path)) throw refusal()
    if (recursive) {
      await deleteTree(directory, name, space.signal).finally(() => { space.freed(undefined) })
      return
    }
    await rmdir(path).catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'ENOTEMPTY' || error.code === 'EEXIST' ? new HttpError('CONFLICT', 'The directory is not empty: add ?recursive=true to remove what is in it') : error
    })
  })
}

/** A newer file may be there than the one that was found: uploads take turns with this. */
async function removeEntry (
  space: FileSpace, place: Place, { headers, check }: { headers: IncomingHttpHeaders, check: () => void }
): Promise<void> {
  const { root, directory, name, stats } = await lookAgain(place)
  const path = entryPath(directory, name)
  if (stats === undefined) throw new HttpError('NOT_FOUND', noSuchFile)
  if (root.service.has(path, stats)) throw refusal()
  checkConditions(headers, tagOf(lstatSync(path, { bigint: true })))
  check()
  await unlink(path)
  space.freed(bytesFreedBy(stats))
}
