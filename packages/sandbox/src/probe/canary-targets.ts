import { once } from 'node:events'
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomBytes, randomInt } from 'node:crypto'
import { identify, realPath } from '@toolyard/workspace'
import { kindOf } from '../view/path.ts'
import type { CanaryTask } from './task.ts'

interface CanaryTargets {
  task: CanaryTask
  /** Shown in no box. */
  hidden: readonly string[]
  /** Puts new files of the service in the place of the old ones, as an editor does. */
  replace (): void
  remove (): Promise<void>
}

const canarySecret = 'canary-secret'
/** bubblewrap's first process inside, the canary, and a thread of either that looks like one for a moment. */
const maxProcesses = 3

/**
 * Lays out a secret file, programs with files of a service among them, a TCP listener, and Unix listeners by path and by
 * name.
 *
 * @param hidden what of the real service no box may show
 */
export async function layTargets (workspaceDir: string, hidden: readonly string[]): Promise<CanaryTargets> {
  const directory = mkdtempSync(join(shortTemporaryDirectory(), 'toolyard-probe-'))
  const secret = join(directory, 'secret')
  writeFileSync(secret, canarySecret, { mode: 0o600 })
  const tools = layTools()
  const replaced = join(tools.directory, 'bin/replaced')
  const path = join(directory, 'socket')
  const abstract = `\0toolyard-${process.pid}-${randomInt(2 ** 40)}`
  const tcp = await listen({ host: '127.0.0.1', port: 0 })
  const servers = [tcp, await listen({ path }), await listen({ path: abstract })]
  // No tool can know the name in advance: a FIFO of that name would block the canary until its time is over.
  const name = `.toolyard-canary-${randomBytes(16).toString('hex')}`
  const outside = [join(directory, 'written'), join(workspaceDir, name), `/usr/${name}`, `/${name}`]
  return {
    hidden: tools.hidden,
    task: { secret, tools: tools.directory, text: canarySecret, replaced, service: existing(hidden), outside, tcpPort: portOf(tcp), sockets: [path, abstract], maxProcesses, sleepSeconds: `86399.${randomInt(2 ** 40)}` },
    replace () {
      for (const file of tools.files) {
        writeFileSync(`${file}.draft`, canarySecret, { mode: 0o600 })
        renameSync(`${file}.draft`, file)
      }
      writeFileSync(replaced, '')
    },
    async remove () {
      await Promise.all(servers.map(async server => { await new Promise(resolve => server.close(resolve)) }))
      for (const place of [directory, tools.directory]) rmSync(place, { recursive: true, force: true })
      for (const file of outside) rmSync(file, { force: true })
    }
  }
}

/** A file, a directory and a link of a service, and what the link leads to. */
function layTools (): { directory: string, hidden: readonly string[], files: readonly string[] } {
  const directory = mkdtempSync(join(tmpdir(), 'toolyard-probe-'))
  const place = (name: string): string => join(directory, name)
  for (const name of ['bin', 'data', 'package']) mkdirSync(place(name), { recursive: true })
  const files = ['.env', 'data/queue', 'package/settings'].map(place)
  for (const file of files) writeFileSync(file, canarySecret, { mode: 0o600 })
  symlinkSync('package/settings', place('settings'))
  return { directory, hidden: ['.env', 'data', 'settings'].map(place), files }
}

/** Those of the files and directories that are there; devices are in every box. */
function existing (paths: readonly string[]): CanaryTask['service'] {
  return paths.flatMap(path => {
    const id = identify(path)
    return id === undefined || !['file', 'directory'].includes(kindOf(realPath(path) ?? path)) ? [] : [{ path, id }]
  })
}

/** A socket's address is no longer, without its closing zero byte, in bytes. */
const longestPath = 107

function shortTemporaryDirectory (): string {
  return Buffer.byteLength(join(tmpdir(), 'toolyard-probe-XXXXXX', 'socket')) <= longestPath ? tmpdir() : '/tmp'
}

async function listen (address: { host: string, port: number } | { path: string }): Promise<Server> {
  const server = createServer(socket => { socket.destroy() })
  server.listen(address)
  await once(server, 'listening')
  return server
}

export function portOf (server: Server): number {
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('The server has no port')
  return address.port
}
