import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { nextTurn } from '@toolyard/runtime'
import { Descriptor } from '../walk/descriptor.ts'
import { entryPath, type Directory } from '../walk/directory.ts'
import { readFully } from '../walk/open-file.ts'
import { headBytes, typeOfFile } from '../files/media-type.ts'

export interface Content {
  size: number
  /** Its media type. */
  type: string
  /** Absent for a file that is too large to be read. */
  sha256?: string
}

export interface FilePlace { directory: Directory, name: string }

/** Bytes that are hashed of one file, and of all files of a call. */
export const hashBounds = { one: 16_777_216, all: 67_108_864 }
/** Bytes that are hashed in one turn of the event loop: a millisecond. */
const pieceBytes = 262_144

/**
 * Reads what a file is, never through a link; undefined for what is no file, or can't be opened.
 *
 * @param mostBytes of a file that is hashed
 */
export async function readContent ({ directory, name }: FilePlace, mostBytes: number): Promise<Content | undefined> {
  let file: Descriptor
  try {
    // O_NONBLOCK: the open of a FIFO would wait for a writer.
    file = new Descriptor(entryPath(directory, name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch {
    return undefined
  }
  try {
    const stats = file.stat()
    if (!stats.isFile()) return undefined
    const head = await readFully(file, 0, headBytes)
    const type = typeOfFile(name, head)
    return stats.size > mostBytes ? { size: stats.size, type } : { ...await hashed(file, mostBytes), type }
  } finally {
    file.close()
  }
}

/** A file that grows meanwhile is read to the bound at most; its size is that of what was hashed. */
async function hashed (file: Descriptor, mostBytes: number): Promise<Pick<Content, 'size' | 'sha256'>> {
  const hash = createHash('sha256')
  let size = 0
  for (;;) {
    const piece = await readFully(file, size, Math.min(pieceBytes, mostBytes - size))
    // Files of many calls may be hashed at once.
    if (size > 0) await nextTurn()
    hash.update(piece)
    size += piece.length
    if (piece.length < pieceBytes) break
  }
  const grown = file.stat().size
  return grown > size ? { size: grown } : { size, sha256: hash.digest('hex') }
}
