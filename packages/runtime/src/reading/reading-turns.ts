import type { Socket } from 'node:net'

/** After so many milliseconds of a turn no connection is read any more. Those that sent no more than their part have the first half. */
export const mostOfAllMs = 10
/** What arrives at once of who doesn't send much. */
export const smallBytes = 16_384

/** A turn of the event loop, which waits for nothing before it is over: what follows from what was read is in its time. */
export interface ReadingTurn {
  beganAt: number
}

let current: ReadingTurn | undefined
/**
 * What goes on with connections whose bytes wait for a turn, the next one first: those that found it used, and those that sent more than
 * their part.
 */
const waiting = { first: new Map<Socket, () => void>(), then: new Map<Socket, () => void>() }

/** The turn that all connections share, whether somebody asks this process or it asks somebody. */
export function thisReadingTurn (): ReadingTurn {
  if (current === undefined) {
    current = { beganAt: performance.now() }
    setImmediate(() => {
      current = undefined
      if (waiting.first.size + waiting.then.size > 0) goOn(thisReadingTurn(), { first: waiting.first.size, then: waiting.then.size })
    })
  }
  return current
}

/**
 * Reads a connection on in one of the next turns.
 *
 * @param isBusy it has sent much, or more than its part
 */
export function waitForReadingTurn (socket: Socket, isBusy: boolean, readOn: () => void): void {
  waiting[isBusy ? 'then' : 'first'].set(socket, readOn)
  thisReadingTurn()
}

/** Reads on at so many of those that wait, one after the other, while the turn has room. They come before what arrives meanwhile. */
function goOn (turn: ReadingTurn, left: Record<keyof typeof waiting, number>): void {
  const ms = performance.now() - turn.beganAt
  const line = left.first > 0 && (left.then === 0 || ms < mostOfAllMs / 2) ? 'first' : 'then'
  const [next] = waiting[line]
  if (left[line] === 0 || next === undefined || ms >= mostOfAllMs) return
  const [socket, readOn] = next
  left[line] -= 1
  waiting[line].delete(socket)
  // What is read now, or in a tick of its own, and what follows from it, is done before the next one.
  readOn()
  process.nextTick(queueMicrotask, () => { process.nextTick(goOn, turn, left) })
}
