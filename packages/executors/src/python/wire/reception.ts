import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Connections } from './connections.ts'

/** A process that is about to connect. */
export interface ExpectedProcess {
  /** What it says first; random, so that no other process can connect in its place. */
  token: string
  /** Fulfilled when both connections are there; never when it is dismissed before. */
  connected: Promise<Connections>
  dismiss (): void
}

/** Where Python processes that are forked in the open connect to the worker: a Unix socket in a directory that only its user can enter. */
export interface Reception {
  path: string
  expect (): ExpectedProcess
  close (): Promise<void>
}

interface Waiting {
  control?: Socket
  output?: Socket
  admit (connections: Connections): void
}

/** The name of the socket. */
const receptionName = 'reception'
/** Bytes that the path of a Unix socket may have on every system. Node.js cuts a longer one short, and listens somewhere else. */
const longestPath = 103
const tokenBytes = 16
/** The token as hex digits, then `c` or `o`. */
const helloBytes = tokenBytes * 2 + 1
const helloTimeoutMs = 5_000

/**
 * Opens a reception. It doesn't keep the process alive.
 *
 * @throws errors of the file system, also where the path of the temporary directory is too long for a socket.
 */
export async function openReception (): Promise<Reception> {
  if (Buffer.byteLength(join(tmpdir(), 'toolyard-XXXXXX', receptionName)) > longestPath) {
    throw Object.assign(new Error('The path of the temporary directory is too long for a socket'), { code: 'ENAMETOOLONG' })
  }
  const directory = await mkdtemp(join(tmpdir(), 'toolyard-'))
  const waiting = new Map<string, Waiting>()
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => {}).once('close', () => { sockets.delete(socket) })
    readHello(socket, hello => { admit(waiting, socket, hello) })
  })
  const path = join(directory, receptionName)
  server.listen(path).unref()
  await once(server, 'listening').catch(async (error: unknown) => {
    await rm(directory, { recursive: true, force: true })
    throw error
  })

  return {
    path,
    expect () {
      const token = randomBytes(tokenBytes).toString('hex')
      const connected = new Promise<Connections>(resolve => { waiting.set(token, { admit: resolve }) })
      return {
        token,
        connected,
        dismiss () {
          const expected = waiting.get(token)
          waiting.delete(token)
          expected?.control?.destroy()
          expected?.output?.destroy()
        }
      }
    },
    async close () {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => { server.close(resolve) })
      await rm(directory, { recursive: true, force: true })
    }
  }
}

/** Reads exactly the hello: what follows it is for whoever reads the connection next. */
function readHello (socket: Socket, onHello: (hello: string) => void): void {
  const onReadable = (): void => {
    const hello: unknown = socket.read(helloBytes)
    if (!Buffer.isBuffer(hello)) return
    socket.off('readable', onReadable).setTimeout(0)
    onHello(hello.toString('latin1'))
  }
  socket.setTimeout(helloTimeoutMs, () => { socket.destroy() })
  socket.on('readable', onReadable)
}

function admit (waiting: Map<string, Waiting>, socket: Socket, hello: string): void {
  const token = hello.slice(0, -1)
  const stream = hello.endsWith('c') ? 'control' : 'output'
  const expected = waiting.get(token)
  if (expected === undefined || expected[stream] !== undefined) {
    socket.destroy()
    return
  }
  expected[stream] = socket
  const { control, output } = expected
  if (control === undefined || output === undefined) return
  waiting.delete(token)
  expected.admit({ requests: control, replies: control, output })
}
