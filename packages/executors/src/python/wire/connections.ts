import type { Socket } from 'node:net'

/** To one forked process and back; nothing has been read from it. The first two may be one socket. */
export interface Connections {
  requests: Socket
  replies: Socket
  output: Socket
}

/** Whether they keep this process alive. */
export function hold ({ requests, replies, output }: Connections, held: boolean): void {
  for (const socket of [requests, replies, output]) {
    if (held) socket.ref()
    else socket.unref()
  }
}

export function disconnect ({ requests, replies, output }: Connections): void {
  for (const socket of [requests, replies, output]) socket.destroy()
}
