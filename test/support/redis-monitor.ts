import { once } from 'node:events'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import type { Cleanup } from './cleanup.ts'

/**
 * Tells of each command that a Redis gets, by its words, until the test ends. `monitor` of ioredis throws when a command
 * comes in one packet with the answer to its own MONITOR.
 */
export async function monitorRedis (t: Cleanup, socketPath: string, onCommand: (words: string[]) => void): Promise<void> {
  const socket = connect(socketPath)
  t.teardown(() => { socket.destroy() })
  const lines = createInterface(socket)
  socket.write('MONITOR\r\n')
  await once(lines, 'line')
  lines.on('line', (line: string) => { onCommand([...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word = '']) => word.replace(/\\(["\\])/g, '$1'))) })
}
