import { HttpError, type FileList, type FileQuery } from '@toolyard/contract'
import {
  atPlace, entryAt, entryKind, inDirectory, mediaTypeOf, modifiedAt, openFile, pageOfNames, type Descriptor, type Place
} from '@toolyard/workspace'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { createReadStream, fstatSync } from 'node:fs'
import { namesTag } from '../plugins/entity-tag.ts'
import { countAnswer } from '../plugins/load/unsent-answers.ts'
import { isSameRange, tagOf } from './conditions.ts'
import { noSuchFile } from './file-error.ts'
import type { RequestedSpace } from './file-space.ts'
import { dispositionOf } from './disposition.ts'

/** The bytes of a file from `start` up to `end`, that one among them. */
interface ByteRange {
  start: number
  end: number
}

/** Bytes of a file that are read at once. */
const pieceBytes = 262_144
/** One piece is read while another one waits for the client. */
const heldBytes = 2 * pieceBytes
/** Characters of paths that a page of a listing has before it ends: one of a thousand names may have 15 MB of them. */
const pageChars = 1_000_000

interface Wanted {
  names: readonly string[]
  query: FileQuery
}

/** Answers with a file, a part of it, or the listing of a directory. */
export async function getFile (
  space: RequestedSpace, { names, query }: Wanted, request: FastifyRequest, reply: FastifyReply
): Promise<FastifyReply> {
  return await atPlace(space, names.join('/') || '.', { notFound: noSuchFile, mayBeMissing: true }, async place => {
    if (place.stats === undefined) throw new HttpError('NOT_FOUND', noSuchFile)
    if (place.stats.isDirectory()) return await reply.send(await listing(place, query, space.inTurn))
    if (query.list) throw new HttpError('CONFLICT', 'This is no directory')
    return sendFile(openFile(place).handle, { name: names.at(-1) ?? '', signal: space.signal }, request, reply)
  })
}

async function listing (place: Place, { limit, cursor = '' }: FileQuery, inTurn: RequestedSpace['inTurn']): Promise<FileList> {
  return await inDirectory(place, 'path', async directory => {
    const { names, rest } = await pageOfNames(place, directory, { after: cursor, limit, inTurn })
    const entries = []
    let [seen, chars] = [0, 0]
    for (const name of names) {
      if (chars > pageChars) break
      seen += 1
      const entry = await entryAt(place, directory, name)
      if (entry === undefined) continue
      const path = place.relative === '.' ? name : `${place.relative}/${name}`
      chars += name.length + path.length
      entries.push({ name, path, type: entryKind(entry.stats), size: entry.stats.size, modified_at: modifiedAt(entry.stats).toISOString() })
    }
    const next = rest > seen ? names[seen - 1] : undefined
    return { ok: true, path: place.relative, entries, count: entries.length, next_cursor: next ?? null }
  })
}

/** @param handle closed when the answer has been sent. */
function sendFile (
  handle: Descriptor, { name, signal }: { name: string, signal: AbortSignal }, { method, headers, log }: FastifyRequest, reply: FastifyReply
): FastifyReply {
  let isStreamed = false
  try {
    const stats = fstatSync(handle.fd, { bigint: true })
    const [size, tag, type, modified] = [Number(stats.size), tagOf(stats), mediaTypeOf(name), modifiedAt(stats)]
    void reply.headers({ etag: tag, 'last-modified': modified.toUTCString(), 'cache-control': 'private, no-cache', 'accept-ranges': 'bytes' })
    const { 'if-match': match, 'if-none-match': noneMatch, 'if-range': ifRange } = headers
    if (match !== undefined && !namesTag(match, tag)) throw new HttpError('PRECONDITION_FAILED', 'If-Match: the file is another one by now')
    if (namesTag(noneMatch, tag)) return reply.code(304).send()
    const range = isSameRange([ifRange].flat()[0], tag, modified) ? readRange(headers.range, size) : undefined
    if (range === 'none') {
      void reply.header('content-range', `bytes */${size}`)
      throw new HttpError('RANGE_NOT_SATISFIABLE', `The file has ${size} bytes`)
    }
    const { start, end } = range ?? { start: 0, end: size - 1 }
    const length = end - start + 1
    const refused = method === 'HEAD' ? undefined : countAnswer(reply, Math.min(length, heldBytes))
    if (refused !== undefined) throw refused
    void reply.code(range === undefined ? 200 : 206).headers({
      'content-type': type,
      'content-length': length,
      'content-disposition': dispositionOf(name, type),
      'x-content-type-options': 'nosniff',
      // Whatever a file says, a browser runs nothing of it in this service's name.
      'content-security-policy': "default-src 'none'; sandbox",
      'cross-origin-resource-policy': 'same-origin',
      ...(range === undefined ? {} : { 'content-range': `bytes ${start}-${end}/${size}` })
    })
    if (method === 'HEAD' || length === 0) return reply.send()
    const stream = createReadStream('', { fd: handle.fd, start, end, highWaterMark: pieceBytes, signal })
    isStreamed = true
    // Before the answer hears of the end: a finished one has no connection any more that could be closed.
    stream.once('end', () => {
      if (stream.bytesRead === length) return
      log.info({ missing: length - stream.bytesRead }, 'a file became shorter while it was sent')
      reply.raw.destroy()
    })
    return reply.send(stream)
  } finally {
    if (!isStreamed) handle.close()
  }
}

/**
 * Reads a `Range` header. One that isn't understood is left out, as is one of several ranges: the whole file is the answer.
 *
 * @returns undefined for the whole file, `none` when it has no such bytes.
 */
function readRange (header: string | undefined, size: number): ByteRange | 'none' | undefined {
  const [, from = '', to = ''] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? '') ?? []
  if (from === '' && to === '') return undefined
  if (from === '') return Number(to) === 0 || size === 0 ? 'none' : { start: Math.max(0, size - Number(to)), end: size - 1 }
  if (to !== '' && Number(to) < Number(from)) return undefined
  if (Number(from) >= size) return 'none'
  return { start: Number(from), end: to === '' ? size - 1 : Math.min(Number(to), size - 1) }
}
