import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'

/** A hostile tool's targets: real files, listeners, and the environment of this process. */
export interface Target {
  directory: string
  /** Holds the text `secret`, and must do so afterwards. */
  secret: string
  /** The arguments of the sample tool `escape`. */
  given: { secrets: string[], outside: string[], tcp: string[], sockets: string[], marker: string, links: string }
}

export async function setUpTarget (t: Test): Promise<Target> {
  const directory = mkdtempSync(join(tmpdir(), 'toolyard-target-'))
  const secret = join(directory, 'secret')
  writeFileSync(secret, 'secret')
  const socket = join(directory, 'socket')
  const name = `toolyard-target-${process.hrtime.bigint()}`
  const tcp = await listen({ host: '127.0.0.1', port: 0 })
  const servers = [tcp, await listen({ path: socket }), await listen({ path: `\0${name}` })]
  t.teardown(async () => {
    await Promise.all(servers.map(async server => { await new Promise(resolve => server.close(resolve)) }))
    rmSync(directory, { recursive: true })
  })
  return {
    directory,
    secret,
    given: {
      secrets: [secret, `/proc/${process.pid}/environ`, `/proc/${process.ppid}/environ`],
      outside: [secret, join(directory, 'written')],
      tcp: [`127.0.0.1:${(tcp.address() as AddressInfo).port}`],
      sockets: [socket, `@${name}`],
      // Every process has one, and so has this one: what the tool has it was given itself.
      marker: 'npm_',
      links: secret
    }
  }
}

async function listen (address: { host: string, port: number } | { path: string }): Promise<Server> {
  const server = createServer(socket => { socket.destroy() })
  server.listen(address)
  await once(server, 'listening')
  return server
}
