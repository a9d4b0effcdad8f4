import type { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { within } from '@toolyard/runtime'

const idleMs = 100
const boundMs = 1_000

export async function closing (stream: Readable): Promise<true> {
  return await new Promise(resolve => { stream.once('close', () => { resolve(true) }) })
}

/**
 * Waits after a process's exit for the end of its pipes. A process left behind can hold them open for ever, so the wait
 * ends when nothing came for 100 ms, or after a second.
 *
 * @returns Whether the pipes ended by themselves.
 */
export async function drainPipes (closed: Promise<true>, receivedBytes: () => number): Promise<boolean> {
  const until = performance.now() + boundMs
  for (;;) {
    const before = receivedBytes()
    const answer = await within(idleMs, closed)
    if (answer !== undefined) return answer
    // A timer can fire before the reads of a loop that was blocked: what is in the pipes by now is still read.
    await turn()
    if (receivedBytes() === before || performance.now() > until) return false
  }
}
