import { HttpError } from '@toolyard/contract'
import {
  atNearPlace, belowNearPlace, checkEntryNames, entryPath, kindOf, nameText, shown, tarEntries, type TarEntry, type WriteTurns
} from '@toolyard/workspace'
import { mkdir } from 'node:fs/promises'
import { noSuchFile, toFileError } from '../file-error.ts'
import type { FileSpace, RequestedSpace } from '../file-space.ts'
import { putFile } from '../upload.ts'

const maxEntries = 100_000

export interface Unpacked {
  files: number
  directories: number
  /** Of the files. */
  bytes: number
}

/**
 * Unpacks an archive into a directory as it comes, each file as if it was put alone. What came before a fault stays: the error
 * says how much that is.
 *
 * @param names of the directory
 * @throws HttpError, WorkspaceFailure, errors of the file system; what the pieces throw.
 */
export async function unpackArchive (
  space: RequestedSpace, { names, pieces }: { names: readonly string[], pieces: AsyncIterable<Buffer> }, turns: WriteTurns
): Promise<Unpacked> {
  checkEntryNames(names)
  const unpacked: Unpacked = { files: 0, directories: 0, bytes: 0 }
  let entries = 0
  let current: TarEntry | undefined
  try {
    for await (const entry of tarEntries(pieces)) {
      current = entry
      entries += 1
      if (entries > maxEntries) throw new HttpError('VALIDATION_ERROR', `is one too many: an archive may have ${maxEntries} entries`)
      space.signal.throwIfAborted()
      await unpackEntry(entry)
      current = undefined
    }
    return unpacked
  } catch (error) {
    throw withRest(error, current, unpacked)
  }

  async function unpackEntry (entry: TarEntry): Promise<void> {
    const kind = kindOf(entry)
    const path = [...names, ...namesOf(entry, kind)]
    if (kind === 'directory') {
      await makeDirectory(space, path)
      unpacked.directories += 1
      return
    }
    const isProgram = (entry.mode & 0o100) !== 0
    const { file } = await putFile(space, { names: path, content: entry.content, bytes: entry.size, headers: {}, isProgram }, turns)
    unpacked.files += 1
    unpacked.bytes += file.size
  }
}

/** A path in an archive is one from the directory that it is unpacked to, and has no way up. */
function namesOf ({ name }: TarEntry, kind: 'file' | 'directory'): string[] {
  const path = nameText(name)
  if (path.startsWith('/')) throw new HttpError('VALIDATION_ERROR', 'has a path from the root')
  const names = (kind === 'directory' ? path.replace(/\/$/, '') : path).split('/').filter(each => each !== '.')
  checkEntryNames(names)
  return names
}

async function makeDirectory (space: FileSpace, names: readonly string[]): Promise<void> {
  if (names.length === 0) return
  const options = { notFound: noSuchFile, mayBeMissing: true, makeParents: true }
  await atNearPlace(space, `./${names.join('/')}`, options, async near => {
    if (near.stats?.isDirectory() === true) return
    if (near.stats !== undefined) throw new HttpError('CONFLICT', 'There is something that is no directory')
    const allowance = await space.allow({ coming: 0, entries: near.missing.length, replaced: 0 })
    let stays = false
    try {
      await belowNearPlace(near, space, async ({ directory, name }) => {
        await mkdir(entryPath(directory, name)).catch((error: NodeJS.ErrnoException) => {
          if (error.code !== 'EEXIST') throw error
        })
      })
      stays = true
    } finally {
      allowance.end(stays)
    }
  })
}

/** An error that says where it was, and what there is by now. Others, such as of a connection that broke, have nobody to be told. */
function withRest (thrown: unknown, entry: TarEntry | undefined, { files, directories }: Unpacked): unknown {
  const error = toFileError(thrown)
  if (!(error instanceof HttpError)) return thrown
  const where = entry === undefined || error.message.startsWith('The body ') ? '' : `The entry ${shown(nameText(entry.name))}: `
  const stays = files + directories === 0 ? 'Nothing was unpacked' : `What came before stays: ${files} files, ${directories} directories`
  return new HttpError(error.code, `${where}${error.message.replace('; nothing was changed', '')}. ${stays}`)
}
