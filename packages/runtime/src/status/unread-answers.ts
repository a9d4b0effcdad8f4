import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** How long a client may read nothing of an answer that waits for it, and how often that is looked at, in milliseconds. */
const standard = { patienceMs: 60_000, lookMs: 5_000 }

/**
 * Ends the connections of an HTTP server whose clients don't read what was sent to them: nothing of it has left for a while.
 * A slow reader stays, and who waits for an answer.
 */
export function dropUnread (server: Server, { patienceMs, lookMs } = standard): void {
  const sockets = new Map<Socket, Look>()
  server.on('connection', (socket: Socket) => {
    sockets.set(socket, { left: '', since: 0 })
    socket.once('close', () => { sockets.delete(socket) })
  })
  const timer = setInterval(() => {
    const now = performance.now()
    for (const [socket, look] of sockets) {
      const left = socket.writableLength === 0 ? '' : restOf(socket)
      if (left === '' || left !== look.left) sockets.set(socket, { left, since: now })
      else if (now - look.since >= patienceMs) socket.destroy()
    }
  }, lookMs).unref()
  server.once('close', () => { clearInterval(timer) })
}

/** A client's waiting bytes, and since when none of them has left. */
interface Look {
  left: string
  since: number
}

/** Changes with each byte that leaves; the kernel's handle knows how far it is with a large piece. */
function restOf (socket: Socket): string {
  const { _handle: handle } = socket as Socket & { _handle?: { writeQueueSize?: number } | null }
  return `${socket.bytesWritten - socket.writableLength} ${handle?.writeQueueSize ?? 0}`
}
