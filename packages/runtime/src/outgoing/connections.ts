import { Agent, buildConnector, type Dispatcher } from 'undici'
import { orElse } from '@toolyard/contract/terms'
import { AddressRefusedError, createPublicCheck, literalAddress } from './addresses.ts'
import { readBounded } from './bounded-body.ts'
import { createHostLookup, type Lookup } from './host-lookup.ts'
import type { Socket } from 'node:net'
import { mostOfAllMs, smallBytes, thisReadingTurn, waitForReadingTurn } from '../reading/reading-turns.ts'

/** Bytes that the parser gets at once: it calls back for each piece of a body and each field among them. */
const sliceBytes = 1_024

/** The parser of one connection takes no more of one turn of the event loop. */
const most = { ms: 5, bytes: 65_536 }

export interface ConnectionOptions {
  /** Whether addresses inside may be connected to. */
  allowPrivate: boolean
  lookup?: Lookup
}

/** Connections to public hosts alone. */
export interface Connections {
  dispatcher: Dispatcher
  /** @throws AddressRefusedError for a host that is an address inside: no lookup will come for it. */
  checkHost (hostname: string): void
  close (): Promise<void>
}

const connectMs = 10_000

/**
 * Makes the connections of one task; `close` ends them. The addresses that a name has at the very connect are checked
 * and connected to, so that a name which changes its address between two lookups gains nothing; one that has any
 * address inside is refused. Proxy variables of the environment have no effect.
 */
export function openConnections ({ allowPrivate, lookup = createHostLookup() }: ConnectionOptions): Connections {
  const isPublic = createPublicCheck()
  const connect = buildConnector({
    timeout: connectMs,
    lookup (host, options, callback) {
      lookup(host, { ...options, all: true }, (error, addresses) => {
        if (error !== null) return callback(error, [])
        if (!allowPrivate && !addresses.every(({ address }) => isPublic(address))) return callback(new AddressRefusedError(host), [])
        const [first] = addresses
        if (options.all === true || first === undefined) callback(null, addresses)
        else callback(null, first.address, first.family)
      })
    }
  })
  const agent = new Agent({
    // Each task has a time of its own, which may be longer than the five minutes of undici.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect (options, callback) {
      connect(options, (error, socket) => {
        if (error !== null) return callback(error, null)
        readInTurns(socket)
        callback(null, socket)
      })
    }
  })
  return {
    dispatcher: agent,
    checkHost (hostname) {
      const address = literalAddress(hostname)
      if (!allowPrivate && address !== undefined && !isPublic(address)) throw new AddressRefusedError(address)
    },
    close: () => agent.destroy()
  }
}

interface JsonRequest {
  method?: 'GET' | 'POST'
  headers: Readonly<Record<string, string>>
  /** How long all of it may take, in milliseconds. */
  ms: number
  /** Of the answer. */
  bytes: number
}

/**
 * Asks a server that the operator has named, which may be inside. No redirect is followed: it would take the headers elsewhere.
 *
 * @returns `body` is undefined for an answer that is no JSON
 * @throws Error for an answer that is too long; what keeps it from being read.
 */
export async function askJson (
  address: string, { method = 'GET', headers, ms, bytes: most }: JsonRequest
): Promise<{ status: number, body: unknown }> {
  const { origin, pathname, search } = new URL(address)
  const connections = openConnections({ allowPrivate: true })
  try {
    const { statusCode: status, body } = await connections.dispatcher.request({
      origin, path: `${pathname}${search}`, method, headers, signal: AbortSignal.timeout(ms)
    })
    const { bytes, truncated } = await readBounded(body.on('error', () => {}), most)
    if (truncated) throw new Error(`the answer has more than ${most} bytes`)
    return { status, body: orElse(() => JSON.parse(bytes.toString()) as unknown, undefined) }
  } finally {
    await connections.close()
  }
}

/**
 * Lets no server hold up the event loop, nor many together. undici reads a socket until nothing is left and parses it all in one turn: a
 * body in pieces of one byte, or 100,000 trailers. Here `read` gives a little at a time, and nothing more once the share
 * of a turn is used up; one of the next turns goes on.
 */
function readInTurns (socket: Socket): void {
  const readAll = socket.read.bind(socket)
  const share = { turn: thisReadingTurn(), begun: performance.now(), bytes: 0, isBusy: false }
  const readOn = (): void => { if (!socket.destroyed) socket.emit('readable') }
  socket.read = (size?: number): unknown => {
    if (socket.destroyed) return null
    const there = socket.readableLength
    if (there === 0) {
      share.isBusy = false
      return readAll(size)
    }
    const turn = thisReadingTurn()
    const now = performance.now()
    if (share.turn !== turn) Object.assign(share, { turn, begun: now, bytes: 0 })
    const hasHadPart = share.bytes >= most.bytes || now - share.begun >= most.ms
    if (hasHadPart || now - turn.beganAt >= mostOfAllMs) {
      share.isBusy ||= share.bytes > 0 || there > smallBytes
      waitForReadingTurn(socket, share.isBusy, readOn)
      return null
    }
    const bytes = Math.min(size ?? sliceBytes, sliceBytes, there)
    share.bytes += bytes
    return readAll(bytes)
  }
}
