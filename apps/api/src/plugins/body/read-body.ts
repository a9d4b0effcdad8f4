import { errorCodes } from 'fastify'
import type { IncomingMessage } from 'node:http'

/** Pieces that are kept apart: a body in pieces of 1 byte would take a hundred times its size, and be put together in one go. */
const mostPieces = 1_024

/**
 * Reads a body.
 *
 * @throws FastifyError when it is longer than `mostBytes`, or ends before its end.
 */
export async function readBody (payload: IncomingMessage, mostBytes: number): Promise<Buffer> {
  if (Number(payload.headers['content-length'] ?? 0) > mostBytes) throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE()
  return await new Promise((resolve, reject) => {
    const large: Buffer[] = []
    let small: Buffer[] = []
    let bytes = 0
    const end = (settle: () => void): void => {
      payload.off('data', onData).off('end', onEnd).off('error', onError)
      settle()
    }
    const onData = (piece: Buffer): void => {
      bytes += piece.length
      if (bytes > mostBytes) return end(() => { reject(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE()) })
      small.push(piece)
      if (small.length < mostPieces) return
      large.push(Buffer.concat(small))
      small = []
    }
    const onEnd = (): void => { end(() => { resolve(Buffer.concat([...large, ...small])) }) }
    const onError = (error: Error): void => { end(() => { reject(Object.assign(error, { statusCode: 400 })) }) }
    payload.on('data', onData).on('end', onEnd).on('error', onError)
  })
}
