import type { ClientRequest, IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { mostOfAllMs, smallBytes, thisReadingTurn, waitForReadingTurn, type ReadingTurn } from './reading-turns.ts'

/** Bytes that Node's parser gets at once: it calls back for each request and each piece of a body among them. */
const sliceBytes = 1_024
/** One connection takes no more of one turn of the event loop, in milliseconds of the parser. */
const mostParserMs = 5

/**
 * Lets no connection of an HTTP server hold up the event loop, nor many together. Node.js parses all that one read brings, up to 64 KiB, in
 * one turn: 3,000 pipelined requests, or a body in 10,000 pieces. Here the parser gets a little at a time, and what
 * exceeds a connection's share waits for the next turn: docs/decisions/0007-bounded-bodies.md. A request that was sent behind
 * another one waits until that is answered: for all of them at once there would be answers in memory, and open files.
 */
export function takeTurns (server: Server): void {
  const shares = new WeakMap<Socket, Share>()
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket, headers } = request
    const share = shares.get(socket)
    if (share === undefined) return
    share.request = request
    share.bodyBytes = Number(headers['content-length'] ?? 0)
    response.once('close', () => {
      share.request = undefined
      if (share.waitsForAnswer) waitForTurn(socket, share)
      share.waitsForAnswer = false
    })
  })
  server.on('connection', (socket: Socket) => {
    const share = parseInTurns(socket, 'requests')
    if (share !== undefined) shares.set(socket, share)
  })
}

/** The same for a connection to a server that `node:http` has made a request on: what the server answers is parsed in turns. */
export function takeAnswerInTurns (request: ClientRequest): void {
  request.once('socket', (socket: Socket) => { parseInTurns(socket, 'an answer') })
}

function parseInTurns (socket: Socket, what: Share['what']): Share | undefined {
  // Node's own listener, which gives the parser what it gets.
  const [parse] = socket.listeners('data')
  if (parse === undefined) return undefined
  const share: Share = {
    what, turn: thisReadingTurn(), parserMs: 0, isBusy: false, bodyBytes: 0, isLineEmpty: false, request: undefined, waitsForAnswer: false
  }
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- A listener of `data` takes a chunk.
  socket.off('data', parse as (chunk: Buffer) => void)
  const own = (chunk: Buffer): void => {
    const rest = read(socket, chunk, parse, ofTurn(share, thisReadingTurn()))
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
  what: 'requests' | 'an answer'
  turn: ReadingTurn
  parserMs: number
  /** It has sent much, or more than its part, and not all of that is read. */
  isBusy: boolean
  /** So many bytes are the rest of a body of known length: the parser calls back for them once. */
  bodyBytes: number
  /** The parser was given the end of a line, and nothing of the next one. */
  isLineEmpty: boolean
  /** The last one; undefined once it is answered. */
  request: IncomingMessage | undefined
  /** What it has sent behind that request isn't parsed yet. */
  waitsForAnswer: boolean
}

function ofTurn (share: Share, turn: ReadingTurn): Share {
  return share.turn === turn ? share : Object.assign(share, { turn, parserMs: 0 })
}

function waitForTurn (socket: Socket, { isBusy }: Share): void {
  waitForReadingTurn(socket, isBusy, () => { socket.resume() })
}

const noBytes = Buffer.alloc(0)

/** Gives what was not read, where the socket was handed over meanwhile. */
// eslint-disable-next-line @typescript-eslint/no-unsafe-function-type -- as `listeners` gives it
function read (socket: Socket, chunk: Buffer, parse: Function, share: Share): Buffer {
  for (let at = 0; at < chunk.length;) {
    if (at > 0 && isHandedOver(socket)) return chunk.subarray(at)
    if (at > 0 && !socket.writable) break
    // Node.js waits for a reader of the body or of the answers, and goes on by itself.
    const isHeld = at > 0 && socket.isPaused()
    share.waitsForAnswer = share.request?.complete === true
    const hasHadPart = share.parserMs >= mostParserMs || performance.now() - share.turn.beganAt >= mostOfAllMs
    if (isHeld || share.waitsForAnswer || hasHadPart) {
      socket.pause()
      socket.unshift(chunk.subarray(at))
      share.isBusy ||= share.parserMs > 0 || chunk.length > smallBytes
      if (!isHeld && !share.waitsForAnswer) waitForTurn(socket, share)
      return noBytes
    }
    const slice = nextSlice(chunk.subarray(at), share)
    at += slice.length
    const before = performance.now()
    parse.call(socket, slice)
    share.parserMs += performance.now() - before
  }
  share.isBusy = false
  return noBytes
}

/** What the parser gets at once: with the end of a request, nothing of the next one. */
function nextSlice (chunk: Buffer, share: Share): Buffer {
  if (share.bodyBytes > 0) {
    const body = chunk.subarray(0, share.bodyBytes)
    share.bodyBytes -= body.length
    share.isLineEmpty = false
    return body
  }
  const slice = chunk.subarray(0, sliceBytes)
  if (share.what === 'an answer') return slice
  // An iterator takes five times as long, for each byte of a body in pieces.
  for (let at = 0; at < slice.length; at++) {
    const byte = slice[at]
    if (byte === lineFeed && share.isLineEmpty) {
      share.isLineEmpty = false
      return slice.subarray(0, at + 1)
    }
    share.isLineEmpty = byte === lineFeed || (byte === carriageReturn && share.isLineEmpty)
  }
  return slice
}

const [lineFeed, carriageReturn] = [10, 13]
