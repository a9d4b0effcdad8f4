import { setImmediate as turn } from 'node:timers/promises'

const idleMs = 100
const boundMs = 1_000

/**
 * Waits after a process's exit for the end of its pipes (B1), whose `ended` says true at their end and false when the
 * run is to stop. A process left behind can hold them open for ever, so the wait ends when nothing came for 100 ms, or
 * after a second.
 *
 * @returns Whether the pipes ended by themselves.
 */
export async function drainPipes (ended: Promise<boolean>, receivedBytes: () => number): Promise<boolean> {
  const until = performance.now() + boundMs
  for (;;) {
    const before = receivedBytes()
    const answer = await withinIdle(ended)
    if (answer !== undefined) return answer
    // A timer can fire before the reads of a loop that was blocked: what is in the pipes by now is still read.
    await turn()
    if (receivedBytes() === before || performance.now() > until) return false
  }
}

async function withinIdle (ended: Promise<boolean>): Promise<boolean | undefined> {
  let timer: NodeJS.Timeout | undefined
  const idle = new Promise<undefined>(resolve => { timer = setTimeout(resolve, idleMs, undefined) })
  try {
    return await Promise.race([ended, idle])
  } finally {
    clearTimeout(timer)
  }
}
