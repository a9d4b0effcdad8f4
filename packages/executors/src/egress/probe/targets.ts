import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { randomInt } from 'node:crypto'
import { portOf } from '@toolyard/sandbox'
import type { HttpPolicy } from '../../run/tool-call.ts'
import type { CanaryTask } from './task.ts'

interface NetworkTargets {
  task: Omit<Exclude<CanaryTask, { serve: true }>, 'neighbourPort'>
  policy: HttpPolicy
  /** Arrivals at places that nothing of a box reaches, in sentences. */
  reached (): Promise<string[]>
  remove (): Promise<void>
}

const host = 'listed.canary.invalid'
const otherName = 'other.canary.invalid'
const marker = 'marker'

/** Serves the one host of the canary's list, and, on 127.0.0.1, what must not be reached: TCP, UDP and Unix listeners. */
export async function layNetworkTargets (directory: string): Promise<NetworkTargets> {
  const reached = new Set<string>()
  const sockets = mkdtempSync(join(directory, 'p-'))
  const path = join(sockets, 's')
  const abstract = `\0toolyard-${process.pid}-${randomInt(2 ** 40)}`
  const listed = createHttpServer((_, response) => { response.end() })
  const tell = (what: string) => (): void => { reached.add(what) }
  const tcp = createServer(socket => { socket.destroy() }).on('connection', tell('a connection reached a TCP port of the machine'))
  const unix = [path, abstract].map(place => ({ place, server: createServer(socket => { socket.destroy() }) }))
  await Promise.all([
    ...[listed, tcp].map(async server => await listening(server.listen(0, '127.0.0.1'))),
    ...unix.map(async ({ place, server }) => await listening(server.listen({ path: place })))
  ])
  const udp = createSocket('udp4')
  const marked = new Promise<void>(resolve => {
    udp.on('message', bytes => {
      if (bytes.toString() === marker) resolve()
      else reached.add('a UDP packet left the box')
    })
  })
  udp.bind(0, '127.0.0.1')
  await once(udp, 'listening')
  const port = portOf(tcp)
  const listedPort = portOf(listed)
  return {
    task: {
      listed: `${host}:${listedPort}`,
      refused: [
        ...['127.0.0.1', '2130706433', '0x7f.1', 'localhost', '[::ffff:127.0.0.1]', otherName].map(each => `${each}:${port}`),
        `${host}:${port}`
      ],
      tcpPort: port,
      udpPort: udp.address().port,
      name: otherName,
      sockets: [path, abstract]
    },
    policy: {
      privateHosts: ['*'],
      lookup (name, _options, callback) {
        if (name !== host) reached.add(`the name ${name} was looked up`)
        callback(null, [{ address: '127.0.0.1', family: 4 }])
      }
    },
    async reached () {
      // It comes behind all that was sent before it.
      udp.send(marker, udp.address().port, '127.0.0.1')
      await marked
      return [...reached]
    },
    async remove () {
      listed.closeAllConnections()
      udp.close()
      const servers = [listed, tcp, ...unix.map(({ server }) => server)]
      await Promise.all(servers.map(async server => { await new Promise(resolve => server.close(resolve)) }))
      rmSync(sockets, { recursive: true, force: true })
    }
  }
}

async function listening (server: Server): Promise<void> {
  await once(server, 'listening')
}
