import type { Readable } from 'node:stream'

/** The streams of all tools together take no more of one turn of the event loop. */
const most = { ms: 5, bytes: 1_048_576 }
/** Streams that go on in the next turn; others wait for one more. */
const atOnce = 16

let used = { ms: 0, bytes: 0 }
let held: Readable[] = []
let isTurning = false

/** How far a stream may be ahead of its rate, in milliseconds. */
const aheadMs = 1_000

/**
 * Reads what a tool or a server writes, in such a way that no flood holds up the event loop: libuv hands on up to 2 MB
 * of each stream in one turn. Once the share of a turn is used up, streams wait for the next one, and who writes into
 * them waits, too.
 *
 * @param bytesPerSecond for a stream that may flood as long as it likes: no call's time ends it
 */
export function readWithShare (stream: Readable, take: (chunk: Buffer) => void, bytesPerSecond = Infinity): void {
  let paidUntil = 0
  stream.on('data', (chunk: Buffer) => {
    const begun = performance.now()
    take(chunk)
    paidUntil = Math.max(paidUntil, begun) + chunk.length / bytesPerSecond * 1_000
    if (paidUntil > begun + aheadMs) {
      stream.pause()
      setTimeout(() => { stream.resume() }, paidUntil - begun - aheadMs).unref()
      return
    }
    if (!isTurning) {
      isTurning = true
      used = { ms: 0, bytes: 0 }
      setImmediate(nextTurn)
    }
    used.ms += performance.now() - begun
    used.bytes += chunk.length
    if (used.ms < most.ms && used.bytes < most.bytes) return
    stream.pause()
    held.push(stream)
  })
}

function nextTurn (): void {
  used = { ms: 0, bytes: 0 }
  isTurning = held.length > 0
  if (isTurning) setImmediate(nextTurn)
  const now = held.slice(0, atOnce)
  held = held.slice(atOnce)
  for (const stream of now) stream.resume()
}
