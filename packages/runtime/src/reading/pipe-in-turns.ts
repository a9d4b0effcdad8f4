import type { Socket } from 'node:net'
import { mostOfAllMs, smallBytes, thisReadingTurn, waitForReadingTurn } from './reading-turns.ts'

/**
 * As `from.pipe(to)`, in the turns of the event loop that all connections share: libuv hands on up to 2 MB of each connection in one
 * turn, and a program may open hundreds.
 *
 * @returns ends it, as `unpipe` does
 */
export function pipeInTurns (from: Socket, to: Socket): () => void {
  let isFull = false
  let waits = false
  const isOver = (): boolean => performance.now() - thisReadingTurn().beganAt >= mostOfAllMs
  const wait = (isBusy: boolean): void => {
    waits = true
    waitForReadingTurn(from, isBusy, () => {
      waits = false
      goOn()
    })
  }
  const goOn = (): void => {
    if (isFull || waits) return
    if (isOver()) wait(true)
    else from.resume()
  }
  const drained = (): void => {
    isFull = false
    goOn()
  }
  const take = (chunk: Buffer): void => {
    if (isOver()) {
      from.pause()
      from.unshift(chunk)
      if (!waits) wait(chunk.length > smallBytes)
    } else if (to.writable && !to.write(chunk)) {
      // Its end may come from elsewhere.
      isFull = true
      from.pause()
    }
  }
  const end = (): void => { to.end() }
  to.on('drain', drained)
  from.on('data', take).once('end', end).resume()
  if (from.readableEnded) end()
  return () => {
    isFull = true
    to.off('drain', drained)
    from.off('data', take).off('end', end).pause()
  }
}
