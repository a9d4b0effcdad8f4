import { connect, createServer, type NetConnectOpts, type Socket } from 'node:net'
import type { Cleanup } from './cleanup.ts'
import { listening } from './listening.ts'

/**
 * Whether a command is where connections are to break. The name is in lower case;
 * all connections are asked, in the order of their commands.
 */
export type Breaks = (name: string, args: string[]) => boolean

/** A way to Redis that a test can break at an exact command. */
export interface RedisProxy {
  url: string
  /**
   * Breaks all connections at the first command for which `breaks` says so, and takes no new ones until `mend`.
   *
   * @param side `before`: Redis doesn't get the command; `after`: it has run it, and nobody hears the answer
   * @returns resolves when they are broken
   */
  breakAt: (side: 'before' | 'after', breaks: Breaks) => Promise<void>
  /** Has Redis answer each command with an error for which `fails` says so, until `mend`. @returns resolves when the first one has come */
  failWhere: (error: string, fails: Breaks) => Promise<void>
  /** Lets connections through again; a break that has not come is called off. */
  mend: () => void
}

export async function startRedisProxy (cleanup: Cleanup, target: NetConnectOpts): Promise<RedisProxy> {
  const open = new Set<Socket>()
  let plan: { side: 'before' | 'after', breaks: Breaks, done: () => void } | undefined
  let failure: { command: Buffer, fails: Breaks, done: () => void } | undefined
  let isBroken = false
  const breakAll = (): void => {
    isBroken = true
    plan?.done()
    plan = undefined
    for (const socket of open) socket.destroy()
  }
  const server = createServer(client => {
    if (isBroken) return client.destroy()
    const upstream = connect(target)
    for (const [one, other] of [[client, upstream], [upstream, client]] as const) {
      open.add(one)
      one.on('error', () => {})
      one.on('close', () => {
        open.delete(one)
        other.destroy()
      })
    }
    upstream.on('data', data => { if (!isBroken) client.write(data) })
    const commands = commandReader()
    client.on('data', data => {
      for (const { bytes, name, args } of commands(data)) {
        if (isBroken) return
        if (failure?.fails(name, args) === true) {
          failure.done()
          upstream.write(failure.command)
          continue
        }
        if (plan?.breaks(name, args) !== true) {
          upstream.write(bytes)
          continue
        }
        isBroken = true
        if (plan.side === 'before') return breakAll()
        // Redis runs all that it gets before the end, and closes then. `mend` may have come before.
        upstream.once('close', () => { if (isBroken) breakAll() })
        upstream.end(bytes)
        return
      }
    })
  })
  const port = await listening(cleanup, server)
  cleanup.teardown(breakAll)
  return {
    url: `redis://127.0.0.1:${port}`,
    breakAt: async (side, breaks) => { await new Promise<void>(resolve => { plan = { side, breaks, done: resolve } }) },
    // Redis itself must answer, so that the answers keep their order.
    failWhere: async (error, fails) => { await new Promise<void>(resolve => { failure = { command: encode(['EVAL', `return redis.error_reply('${error}')`, '0']), fails, done: resolve } }) },
    mend: () => {
      plan = undefined
      failure = undefined
      isBroken = false
    }
  }
}

function encode (words: readonly string[]): Buffer {
  return Buffer.from(`*${words.length}\r\n${words.map(word => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`)
}

interface Command {
  bytes: Buffer
  name: string
  args: string[]
}

/** Cuts what a client sends into commands: arrays of bulk strings, as all clients send them. */
function commandReader (): (data: Buffer) => Command[] {
  let rest: Buffer = Buffer.alloc(0)
  return data => {
    rest = Buffer.concat([rest, data])
    const commands: Command[] = []
    for (let command = readCommand(rest); command !== undefined; command = readCommand(rest)) {
      commands.push(command)
      rest = rest.subarray(command.bytes.length)
    }
    return commands
  }
}

function readCommand (bytes: Buffer): Command | undefined {
  let at = 0
  const readNumber = (): number | undefined => {
    const end = bytes.indexOf('\r\n', at)
    if (end < 0) return undefined
    const number = Number(bytes.toString('latin1', at + 1, end))
    at = end + 2
    return number
  }
  const count = readNumber()
  if (count === undefined) return undefined
  const words: string[] = []
  for (let word = 0; word < count; word++) {
    const length = readNumber()
    if (length === undefined || bytes.length < at + length + 2) return undefined
    words.push(bytes.toString('utf8', at, at + length))
    at += length + 2
  }
  const [name = '', ...args] = words
  return { bytes: bytes.subarray(0, at), name: name.toLowerCase(), args }
}
