import { disconnect, hold } from '../wire/connections.ts'
import type { Fork, ForkedProcess, Forker } from './forker.ts'

/** Shows a process a session: see `Forker.showSession`. */
type ShowSession = (process: ForkedProcess) => Promise<string | undefined>

/** Forks one process ahead, so that a call finds its own waiting. */
export interface Spare {
  /** As `fork` of the forker. With `show`, it begins to show the process its session. */
  take (show?: ShowSession): Promise<Fork>
  /** Ends the process that waits. Fulfilled when all its processes are gone, with the pids of those that outlived SIGKILL. */
  close (): Promise<number[]>
}

/**
 * The first process is forked ahead with the first call, so a template that is never called has none waiting. A waiting
 * process was forked before its call came. So at the call the forker is asked whether the sources are still those that were
 * imported.
 */
export function createSpare (forker: Forker): Spare {
  let next: Promise<Fork> | undefined
  let closed = false
  /** Whether calls come in sessions. Then inner boxes are looked for ahead, so that no call waits for that. */
  let showsSessions = false

  async function fork (): Promise<Fork> {
    const fork = await forker.fork()
    if (fork.kind !== 'forked') return fork
    // It keeps no process alive while it waits.
    hold(fork.process, false)
    if (showsSessions) void fork.process.tree.initInHost()
    return fork
  }

  /** The session is shown while the sources are looked at: that takes two other processes, and the call waits for both. */
  async function takeWaiting (waiting: Promise<Fork>, checked: Promise<'fresh' | 'stale' | 'lost'>, show: ShowSession | undefined): Promise<Fork> {
    const fork = showing(await waiting, show)
    const state = await checked
    if (state === 'fresh' && fork.kind === 'forked' && !fork.process.hasEnded()) {
      hold(fork.process, true)
      return fork
    }
    if (fork.kind === 'forked') await end(fork.process)
    return state === 'fresh' ? showing(await forker.fork(), show) : { kind: state }
  }

  return {
    async take (show) {
      showsSessions ||= show !== undefined
      const taken = next === undefined ? forker.fork().then(fork => showing(fork, show)) : takeWaiting(next, forker.check(), show)
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

/** Begins to show what was forked its session, if it has one. */
export function showing (fork: Fork, show: ShowSession | undefined): Fork {
  return fork.kind === 'forked' && show !== undefined ? { ...fork, shown: show(fork.process) } : fork
}

async function end (process: ForkedProcess): Promise<number[]> {
  disconnect(process)
  const survivors = await process.tree.kill()
  process.release()
  return survivors
}
