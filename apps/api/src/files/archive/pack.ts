import { HttpError, asError, errorCode } from '@toolyard/contract'
import {
  atPlace, blockBytes, entryAt, inDirectory, isOwnName, isServiceName, modifiedAt, nameOf, newNameFault, openDirectory, openFile, paddingOf,
  readEntries, readFully, writeHeader, WorkspaceFailure, type Directory, type Place
} from '@toolyard/workspace'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Readable } from 'node:stream'
import { dispositionOf } from '../disposition.ts'
import { noSuchFile } from '../file-error.ts'
import type { FileSpace } from '../file-space.ts'

/** Bytes of a file that are read at once. */
const pieceBytes = 262_144
/** Entries of a directory that are read at once. */
const bufferSize = 64
/** Levels below the workspace that a path of a request may have. */
const maxLevels = 64
const type = 'application/x-tar'

/** Answers with all that is in a directory, as an archive that is made while it is sent. */
export async function sendArchive (
  space: FileSpace, names: readonly string[], { method, log }: FastifyRequest, reply: FastifyReply
): Promise<FastifyReply> {
  return await atPlace(space, names.join('/') || '.', { notFound: noSuchFile, mayBeMissing: true }, async place => {
    if (place.stats === undefined) throw new HttpError('NOT_FOUND', noSuchFile)
    if (!place.stats.isDirectory()) throw new HttpError('CONFLICT', 'This is no directory')
    return await inDirectory(place, 'path', async directory => {
      void reply.headers({
        'content-type': type,
        'content-disposition': dispositionOf(`${names.at(-1) ?? 'files'}.tar`, type),
        'cache-control': 'private, no-cache',
        'x-content-type-options': 'nosniff'
      })
      if (method === 'HEAD') return reply.send()
      const depth = place.relative === '.' ? 0 : place.relative.split('/').length
      const { signal } = space
      const archive = Readable.from(packed(place, { directory, path: '', depth }, signal), { objectMode: false, highWaterMark: pieceBytes, signal })
      const closed = new Promise<void>(resolve => { archive.once('close', resolve) })
      archive.once('error', error => { log.info({ err: error }, 'an archive broke off') })
      void reply.send(archive)
      // The directory stays open until all of it is sent.
      await closed
      return reply
    })
  })
}

interface Level {
  directory: Directory
  /** Empty, or with a slash at its end. */
  path: string
  depth: number
}

async function * packed (place: Place, top: Level, signal: AbortSignal): AsyncGenerator<Buffer> {
  yield * entriesOf(place, top, signal)
  yield Buffer.alloc(2 * blockBytes)
}

/** Nothing is followed or waited for: links, devices and FIFOs are left out, as is what no request can name or the service can't read. */
async function * entriesOf (place: Place, { directory, path, depth }: Level, signal: AbortSignal): AsyncGenerator<Buffer> {
  const taken = place.root.service.namesIn(directory.handle.fd)
  for await (const { name, dirent } of readEntries(directory, bufferSize)) {
    signal.throwIfAborted()
    const isOwn = isOwnName(name) && !dirent.isDirectory()
    if (isOwn || isServiceName(name, taken) || newNameFault(name) !== undefined) continue
    const entry = await entryAt(place, directory, name)
    if (entry?.stats.isFile() === true) yield * fileOf({ ...place, directory, name, stats: entry.stats }, `${path}${name}`)
    if (entry?.stats.isDirectory() !== true || depth + 1 >= maxLevels) continue
    const inner = opened(() => openDirectory(directory, name))
    if (inner === undefined) continue
    try {
      yield writeHeader({ name: bytesOf(`${path}${name}/`), size: 0, mode: entry.stats.mode, mtime: modifiedAt(entry.stats), type: '5' })
      yield * entriesOf(place, { directory: inner, path: `${path}${name}/`, depth: depth + 1 }, signal)
    } catch (error) {
      if (!isUnreadable(error)) throw error
    } finally {
      inner.handle.close()
    }
  }
}

async function * fileOf (place: Place, path: string): AsyncGenerator<Buffer> {
  const file = opened(() => openFile(place))
  if (file === undefined) return
  const { handle, size, mode } = file
  try {
    yield writeHeader({ name: bytesOf(path), size, mode, mtime: modifiedAt(handle.stat()), type: '0' })
    for (let at = 0; at < size;) {
      const piece = await readFully(handle, at, Math.min(pieceBytes, size - at))
      if (piece.length === 0) throw new Error('a file became shorter while it was sent')
      yield piece
      at += piece.length
    }
    yield paddingOf(size)
  } finally {
    handle.close()
  }
}

/** An archive has the bytes of names. */
function bytesOf (path: string): Buffer {
  return Buffer.from(nameOf(path))
}

/** Undefined for what is gone by now, something else, the service's own, or not for its user. */
function opened<T> (open: () => T): T | undefined {
  try {
    return open()
  } catch (error) {
    if (isUnreadable(error)) return undefined
    throw error
  }
}

function isUnreadable (error: unknown): boolean {
  return error instanceof WorkspaceFailure || ['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'EPERM', 'ENXIO'].includes(errorCode(asError(error)) ?? '')
}
