import { pipeline, type Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { headerChars } from './response-head.ts'

const decoders: Readonly<Record<string, () => Transform>> = { gzip: createGunzip, 'x-gzip': createGunzip, deflate: createInflate, br: createBrotliDecompress }

/** A server has given its body an unknown encoding that the request didn't ask for. */
export class EncodingError extends Error {
  override readonly name = 'EncodingError'
}

/**
 * A body without the `content-encoding` that a server has given it although none was asked for. It is decoded as it is
 * read, so that a bound on what is read bounds what is decoded.
 *
 * @throws EncodingError for an encoding that isn't known, or more than one.
 */
export function decodedBody (body: Readable, encoding: string): Readable {
  const name = encoding.trim().toLowerCase()
  if (name === '' || name === 'identity') return body
  const decoder = decoders[name]?.()
  if (decoder === undefined) {
    body.on('error', () => {}).destroy()
    throw new EncodingError(`content-encoding not known: ${encoding.slice(0, headerChars)}`)
  }
  // A reader of the decoder gets its errors, and those of the body.
  return pipeline(body, decoder, () => {})
}
