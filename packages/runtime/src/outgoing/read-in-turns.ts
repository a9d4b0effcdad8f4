import type { Socket } from 'node:net'

/** Bytes that the parser gets at once: it calls back for each piece of a body and each field among them. */
const sliceBytes = 1_024
/** What the parser may take of one turn of the event loop. */
const most = { ms: 5, bytes: 65_536 }

/**
 * Lets no server hold up the event loop. undici reads a socket until nothing is left and parses it all in one turn: a
 * body in pieces of one byte, or 100,000 trailers. Here `read` gives a little at a time, and nothing more once the share
 * of a turn is used up; the next turn goes on.
 */
export function readInTurns (socket: Socket): void {
  const readAll = socket.read.bind(socket)
  let share: { begun: number, bytes: number } | undefined
  const nextTurn = (): void => {
    const wasShort = share !== undefined && isUsed(share)
    share = undefined
    if (wasShort && !socket.destroyed) socket.emit('readable')
  }
  socket.read = (size?: number): unknown => {
    if (socket.destroyed) return null
    const there = socket.readableLength
    if (there === 0) return readAll(size)
    if (share === undefined) {
      share = { begun: performance.now(), bytes: 0 }
      setImmediate(nextTurn)
    }
    if (isUsed(share)) return null
    const bytes = Math.min(size ?? sliceBytes, sliceBytes, there)
    share.bytes += bytes
    return readAll(bytes)
  }
}

function isUsed ({ begun, bytes }: { begun: number, bytes: number }): boolean {
  return bytes >= most.bytes || performance.now() - begun >= most.ms
}
