import type { FastifyRequest } from 'fastify'

/** How long the rest of a body is waited for, in milliseconds. */
const restMs = 2_000

/**
 * Answers a request that may not have been read. A connection that ends with the answer is torn down while bytes are
 * still coming, and a client that sends all before it reads never sees the answer: there, what comes is read and dropped
 * first. On a connection that is kept, Node.js reads on by itself.
 */
export function whenRead ({ raw }: FastifyRequest, answer: () => void): void {
  const ends = raw.httpVersionMajor < 2 && (raw.httpVersion === '1.0' || raw.headers.connection?.toLowerCase() === 'close')
  if (!ends || raw.complete) {
    answer()
    return
  }
  const finish = (): void => {
    clearTimeout(timer)
    raw.off('end', finish).off('close', finish)
    answer()
  }
  const timer = setTimeout(finish, restMs)
  raw.once('end', finish).once('close', finish).resume()
}
