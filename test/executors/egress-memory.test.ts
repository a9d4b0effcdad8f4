import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { egressProxy } from './egress-proxy.ts'

/** The proxy, the kernel's buffers of both connections, and Node's may hold so much for a reader that rests. */
const bound = 16 * 2 ** 20
/** The kernel's buffers of both connections may grow so far while their readers are fast. */
const grown = 2 * ['rmem', 'wmem'].reduce((sum, name) => sum + Number(readFileSync(`/proc/sys/net/ipv4/tcp_${name}`, 'utf8').split('\t')[2]), 0)
const piece = Buffer.alloc(65_536, 'x')

/** Writes without end, until the connection is closed. */
function pour (socket: Socket): void {
  while (!socket.destroyed && socket.write(piece));
  if (!socket.destroyed) socket.once('drain', () => { pour(socket) })
}

/** Bytes that have left this end once no more do. */
async function stalled (socket: Socket): Promise<number> {
  let [last, quiet] = [-1, 0]
  return await waitFor('nobody takes more', () => {
    const sent = socket.bytesWritten - socket.writableLength
    quiet = sent === last ? quiet + 1 : 0
    last = sent
    // A proxy that took all would go on for ever.
    return quiet > 30 || sent > 4 * bound + grown ? sent : undefined
  })
}

const heads = {
  'in the clear': 'GET http://api.test/ HTTP/1.1\r\nHost: api.test\r\n\r\n',
  'in a tunnel to a port': 'CONNECT api.test:5432 HTTP/1.1\r\nHost: api.test\r\n\r\nstart'
}

for (const [way, head] of Object.entries(heads)) {
  t.test(`an answer without end waits for a program that reads slowly, ${way}: no more than 16 MiB of it are on the way`, async t => {
    let host: Socket | undefined
    const { program } = await egressProxy(t, socket => {
      socket.once('data', () => {
        host = socket
        socket.write('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n')
        pour(socket)
      })
    }, { hosts: ['api.test', 'api.test:5432'] })
    const slow = await program()
    slow.write(head)
    slow.pause()
    const sender = await waitFor('the host sends', () => host)
    t.ok(await stalled(sender) < bound)
    let read = 0
    slow.on('data', bytes => { read += bytes.length }).resume()
    await waitFor('it reads on', () => read > 2 * bound)
    slow.pause()
    t.ok(await stalled(sender) - read < bound + grown)
    slow.destroy()
    await waitFor('the host is left', () => sender.destroyed)
  })
}

t.test('a body without end waits for a host that does not read: no more than 16 MiB of it are on the way', async t => {
  let host: Socket | undefined
  const { program } = await egressProxy(t, socket => { host = socket.pause() })
  const sender = await program()
  sender.write('POST http://api.test/ HTTP/1.1\r\nHost: api.test\r\nContent-Length: 10000000000\r\n\r\n')
  pour(sender)
  await waitFor('the host has a connection', () => host)
  t.ok(await stalled(sender) < bound)
  sender.destroy()
  // It reads what is left in the buffers first.
  await waitFor('the host is left', () => host?.resume().readableEnded === true || host?.destroyed === true)
})
