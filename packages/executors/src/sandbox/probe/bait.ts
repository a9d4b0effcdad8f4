import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomBytes, randomInt } from 'node:crypto'
import type { CanaryTask } from './task.ts'

/** Things for a canary to reach, real ones. */
export interface Bait {
  task: CanaryTask
  remove (): Promise<void>
}

/** bubblewrap's first process inside, the canary, and a thread of either that looks like one for a moment. */
const maxProcesses = 3

/** Lays out a secret file, a TCP listener, and Unix listeners by path and by name. */
export async function layBait (workspaceDir: string): Promise<Bait> {
  const directory = mkdtempSync(join(shortTemporaryDirectory(), 'toolyard-bait-'))
  const secret = join(directory, 'secret')
  writeFileSync(secret, 'canary', { mode: 0o600 })
  const path = join(directory, 'socket')
  const abstract = `\0toolyard-${process.pid}-${randomInt(2 ** 40)}`
  const tcp = await listen({ host: '127.0.0.1', port: 0 })
  const servers = [tcp, await listen({ path }), await listen({ path: abstract })]
  // Nobody knows the name before: a FIFO that a tool planted there would hold the canary until nobody trusts the box.
  const name = `.toolyard-canary-${randomBytes(16).toString('hex')}`
  const outside = [join(directory, 'written'), join(workspaceDir, name), `/usr/${name}`, `/${name}`]
  return {
    task: { secret, outside, tcpPort: (tcp.address() as AddressInfo).port, sockets: [path, abstract], maxProcesses, sleepSeconds: `86399.${randomInt(2 ** 40)}` },
    async remove () {
      await Promise.all(servers.map(async server => { await new Promise(resolve => server.close(resolve)) }))
      rmSync(directory, { recursive: true, force: true })
      for (const file of outside) rmSync(file, { force: true })
    }
  }
}

/** What fits into a socket's address with its closing zero byte, in bytes. */
const longestPath = 107

function shortTemporaryDirectory (): string {
  return Buffer.byteLength(join(tmpdir(), 'toolyard-bait-XXXXXX', 'socket')) <= longestPath ? tmpdir() : '/tmp'
}

async function listen (address: { host: string, port: number } | { path: string }): Promise<Server> {
  const server = createServer(socket => { socket.destroy() })
  server.listen(address)
  await once(server, 'listening')
  return server
}
