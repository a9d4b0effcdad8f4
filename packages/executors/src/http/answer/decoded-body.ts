import { pipeline, type Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { headerChars } from './response-head.ts'

const decoders: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', createGunzip], ['x-gzip', createGunzip], ['deflate', createInflate], ['br', createBrotliDecompress]
])

/** A server has given its body an unknown encoding that the request didn't ask for. */
export class EncodingError extends Error {
  override readonly name = 'EncodingError'
}

/**
 * A body without the `content-encoding` that a server has given it although none was asked for. It is decoded as it is
 * read, so that a bound on what is read bounds what is decoded. One without a byte, as of a HEAD or with a 204, is empty.
 *
 * @throws EncodingError for an encoding that isn't known, or more than one.
 */
export async function * decodedBody (body: Readable, encoding: string): AsyncGenerator<Uint8Array> {
  const name = encoding.trim().toLowerCase()
  if (name === '' || name === 'identity') {
    yield * body as AsyncIterable<Uint8Array>
    return
  }
  const makeDecoder = decoders.get(name)
  if (makeDecoder === undefined) {
    body.on('error', () => {}).destroy()
    throw new EncodingError(`content-encoding not known: ${encoding.slice(0, headerChars)}`)
  }
  const pieces: AsyncIterableIterator<Uint8Array> = body[Symbol.asyncIterator]()
  const first = await pieces.next()
  if (first.done === true) return
  // A reader of the decoder gets its errors, and those of the body.
  yield * pipeline(joined(first.value, pieces), makeDecoder(), () => {}) as AsyncIterable<Uint8Array>
}

async function * joined (first: Uint8Array, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first
  yield * rest
}
