import { connect } from 'node:net'

const timeoutMs = 1_000

/**
 * Sends one command without arguments to a Redis server's Unix socket and returns the first line of the reply,
 * such as `+PONG` or `-LOADING ...`; undefined when the server closes without one, as after `SHUTDOWN`.
 *
 * @throws Error when nobody listens there or no reply comes within a second.
 */
export function askRedis (socket: string, command: 'PING' | 'SHUTDOWN'): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    let reply = ''
    const connection = connect(socket)
    connection.setTimeout(timeoutMs, () => connection.destroy(new Error(`no reply to ${command} within ${timeoutMs} ms`)))
    connection.once('connect', () => connection.write(`*1\r\n$${command.length}\r\n${command}\r\n`))
    connection.on('data', chunk => {
      reply += chunk.toString('latin1')
      if (reply.includes('\r\n')) connection.destroy()
    })
    connection.once('error', reject)
    connection.once('close', () => { resolve(reply === '' ? undefined : reply.split('\r\n')[0]) })
  })
}
