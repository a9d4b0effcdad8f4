import { disconnect, hold } from '../wire/connections.ts'
import type { Fork, ForkedProcess, Forker } from './forker.ts'

/** Forks one process ahead, so that a call finds its own waiting. */
export interface Spare {
  /** As `fork` of the forker. */
  take (): Promise<Fork>
  /** Ends the process that waits. Fulfilled when all its processes are gone, with the pids of those that outlived SIGKILL. */
  close (): Promise<number[]>
}

/**
 * Begins with the first call: what is never called has no process that waits. It was forked before its call came, so
 * the forker is asked again then whether the sources are still those that were imported.
 */
export function createSpare (forker: Forker): Spare {
  let next: Promise<Fork> | undefined
  let closed = false

  async function fork (): Promise<Fork> {
    const fork = await forker.fork()
    // It keeps no process alive while it waits.
    if (fork.kind === 'forked') hold(fork.process, false)
    return fork
  }

  async function takeWaiting (waiting: Promise<Fork>, checked: Promise<'fresh' | 'stale' | 'lost'>): Promise<Fork> {
    const [fork, state] = await Promise.all([waiting, checked])
    if (state === 'fresh' && fork.kind === 'forked' && !fork.process.hasEnded()) {
      hold(fork.process, true)
      return fork
    }
    if (fork.kind === 'forked') await end(fork.process)
    return state === 'fresh' ? await forker.fork() : { kind: state }
  }

  return {
    async take () {
      const taken = next === undefined ? forker.fork() : takeWaiting(next, forker.check())
      // Asked for behind the other request.
      next = closed ? undefined : fork()
      return await taken
    },
    async close () {
      closed = true
      const waiting = await next
      next = undefined
      return waiting?.kind === 'forked' ? await end(waiting.process) : []
    }
  }
}

async function end (process: ForkedProcess): Promise<number[]> {
  disconnect(process)
  const survivors = await process.tree.kill()
  process.release()
  return survivors
}
