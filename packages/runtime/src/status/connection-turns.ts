import type { ClientRequest, IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'

/** Bytes that Node's parser gets at once: it calls back for each request and each piece of a body among them. */
const sliceBytes = 1_024
/** What arrives at once of who doesn't send much. */
const smallBytes = 16_384
/** One connection takes no more of one turn of the event loop: requests, and milliseconds of the parser. */
const most = { requests: 8, parserMs: 5 }
/** After so many milliseconds of a turn none is read any more. Those that sent no more than their part have the first half. */
const mostOfAllMs = 10

/**
 * Lets no connection of an HTTP server hold up the event loop, nor many together. Node.js parses all that one read brings, up to 64 KiB, in
 * one turn: 3,000 pipelined requests, or a body in 10,000 pieces. Here the parser gets a little at a time, and what
 * exceeds a connection's share waits for the next turn: docs/decisions/0007-bounded-bodies.md.
 */
export function takeTurns (server: Server): void {
  const shares = new WeakMap<Socket, Share>()
  server.prependListener('request', ({ socket, headers }: IncomingMessage) => {
    const share = shares.get(socket)
    if (share === undefined) return
    share.requests += 1
    // The slice that is being parsed may hold some of the body.
    share.bodyBytes = Math.max(0, Number(headers['content-length'] ?? 0) - share.sliceBytes)
  })
  server.on('connection', (socket: Socket) => {
    const share = parseInTurns(socket)
    if (share !== undefined) shares.set(socket, share)
  })
}

/** The same for a connection to a server that `node:http` has made a request on: what the server answers is parsed in turns. */
export function takeAnswerInTurns (request: ClientRequest): void {
  request.once('socket', (socket: Socket) => { parseInTurns(socket) })
}

/** A turn of the event loop, which waits for nothing before it is over: what follows from requests is in its time. */
interface Turn {
  beganAt: number
}

let current: Turn | undefined
/** Connections whose bytes wait for a turn, the next one first: those that found it used, and those that sent more than their part. */
const waiting = { first: new Set<Socket>(), then: new Set<Socket>() }

function thisTurn (): Turn {
  if (current === undefined) {
    current = { beganAt: performance.now() }
    setImmediate(() => {
      current = undefined
      if (waiting.first.size + waiting.then.size > 0) goOn(thisTurn(), { first: waiting.first.size, then: waiting.then.size })
    })
  }
  return current
}

/** Reads on at so many of those that wait, one after the other, while the turn has room. They come before what arrives meanwhile. */
function goOn (turn: Turn, left: Record<keyof typeof waiting, number>): void {
  const ms = performance.now() - turn.beganAt
  const line = left.first > 0 && (left.then === 0 || ms < mostOfAllMs / 2) ? 'first' : 'then'
  const [socket] = waiting[line]
  if (left[line] === 0 || socket === undefined || ms >= mostOfAllMs) return
  left[line] -= 1
  waiting[line].delete(socket)
  // It reads in a tick of its own. What follows from its requests is done before the next one.
  socket.resume()
  process.nextTick(queueMicrotask, () => { process.nextTick(goOn, turn, left) })
}

function parseInTurns (socket: Socket): Share | undefined {
  // Node's own listener, which gives the parser what it gets.
  const [parse] = socket.listeners('data')
  if (parse === undefined) return undefined
  const share: Share = { turn: thisTurn(), requests: 0, parserMs: 0, isBusy: false, bodyBytes: 0, sliceBytes: 0 }
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- A listener of `data` takes a chunk.
  socket.off('data', parse as (chunk: Buffer) => void)
  const own = (chunk: Buffer): void => {
    const rest = read(socket, chunk, parse, ofTurn(share, thisTurn()))
    if (!isHandedOver(socket)) return
    socket.off('data', own)
    if (rest.length > 0) socket.unshift(rest)
  }
  socket.on('data', own)
  return share
}

/** Whether Node's parser is done with a socket: after CONNECT it is its caller's. */
function isHandedOver (socket: Socket): boolean {
  return 'parser' in socket && socket.parser === null
}

/** A connection's part of a turn of the event loop. */
interface Share {
  turn: Turn
  requests: number
  parserMs: number
  /** It has sent much, or more than its part, and not all of that is read. */
  isBusy: boolean
  /** So many bytes at least are the rest of a body of known length: the parser calls back for them once. */
  bodyBytes: number
  /** Length of what the parser was given last. */
  sliceBytes: number
}

function ofTurn (share: Share, turn: Turn): Share {
  return share.turn === turn ? share : Object.assign(share, { turn, requests: 0, parserMs: 0 })
}

const noBytes = Buffer.alloc(0)

/** Gives what was not read, where the socket was handed over meanwhile. */
// eslint-disable-next-line @typescript-eslint/no-unsafe-function-type -- as `listeners` gives it
function read (socket: Socket, chunk: Buffer, parse: Function, share: Share): Buffer {
  for (let at = 0; at < chunk.length; at += share.sliceBytes) {
    if (at > 0 && isHandedOver(socket)) return chunk.subarray(at)
    if (at > 0 && !socket.writable) break
    // Node.js waits for a reader of the body or of the answers, and goes on by itself.
    const isHeld = at > 0 && socket.isPaused()
    const hasHadPart = share.requests >= most.requests || share.parserMs >= most.parserMs
    if (isHeld || hasHadPart || performance.now() - share.turn.beganAt >= mostOfAllMs) {
      socket.pause()
      socket.unshift(chunk.subarray(at))
      share.isBusy ||= share.parserMs > 0 || chunk.length > smallBytes
      if (!isHeld) waiting[share.isBusy ? 'then' : 'first'].add(socket)
      return noBytes
    }
    const slice = chunk.subarray(at, at + Math.max(sliceBytes, share.bodyBytes))
    share.sliceBytes = slice.length
    share.bodyBytes = Math.max(0, share.bodyBytes - slice.length)
    const before = performance.now()
    parse.call(socket, slice)
    share.parserMs += performance.now() - before
  }
  share.isBusy = false
  return noBytes
}
