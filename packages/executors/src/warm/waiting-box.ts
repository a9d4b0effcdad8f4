import { lstatSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorCode } from '@toolyard/contract/terms'
import {
  checkStartable, childrenOfThreads, killBox, orderOf, stateOf, startDeadline, startProcess,
  type Interruption, type ProcessPlan, type StartHost, type Started
} from '@toolyard/sandbox'
import { familyBytes, readFamily } from './family-state.ts'
import type { Ready, Unfit } from './slot.ts'

/** Starts a box for plans that show the same files, under the same limits. Nothing of a tool runs in it before its call. */
export async function startWaitingBox (plan: ProcessPlan, host: StartHost, signal: AbortSignal): Promise<Ready<Started> | Unfit> {
  const deadline = startDeadline(startMs, signal)
  try {
    return await startUntil(plan, host, deadline.interrupted)
  } finally {
    deadline.clear()
  }
}

async function startUntil (plan: ProcessPlan, host: StartHost, interrupted: Promise<Interruption>): Promise<Ready<Started> | Unfit> {
  const start = await startProcess(plan, host, { stdin: undefined, ahead: true, interrupted })
  if (!start.started) return { kind: 'unfit', reason: start.error.message, passing: true }
  const { child, box } = start
  const { pid } = child
  for (const stream of [child.stdout, child.stderr]) stream.on('error', () => {})
  async function end (): Promise<void> {
    await killBox(pid)
    child.release()
    box?.close()
  }

  if (!await comesToWait(pid, [child.exited, interrupted])) {
    await end()
    return { kind: 'unfit', reason: 'it did not come to wait', passing: true }
  }
  return {
    kind: 'ready',
    bytes: Math.max(leastBytes, familyBytes(readFamily(pid), plan.env['HOME'])),
    serve (own, stdin) {
      const order = orderOf(own)
      const program = order === undefined ? undefined : waitingIn(pid)
      if (order === undefined || program === undefined || !finds(program, own.program)) return undefined
      try {
        checkStartable(own)
        child.begin?.(order, stdin)
        return start
      } catch {
        // A box of its own tells what is wrong.
        return undefined
      }
    },
    end
  }
}

/** Whether its program reads before one of these is fulfilled. */
async function comesToWait (pid: number, ends: ReadonlyArray<Promise<unknown>>): Promise<boolean> {
  const ended = Promise.race(ends).then(() => 'ended')
  do {
    if (waitingIn(pid) !== undefined) return true
  } while (await Promise.race([ended, sleep(lookMs)]) !== 'ended')
  return false
}

/** How long a box may take, and between two looks, in milliseconds. */
const startMs = 15_000
const lookMs = 3
/** The kernel keeps so much for one beside the memory of its processes: namespaces and mounts. */
const leastBytes = 2 ** 20

/**
 * The program that waits, once it is there and reads. Until then the box may still turn out to be none. With a process that
 * somebody has stopped, no call would end in it.
 */
function waitingIn (outer: number): number | undefined {
  try {
    const [first = 0] = childrenOfThreads(outer)
    const [program = 0] = childrenOfThreads(first)
    const [outerState, firstState, state] = [outer, first, program].map(stateOf)
    return state === 'S' && outerState !== 'T' && firstState !== 'T' ? program : undefined
  } catch {
    return undefined
  }
}

/** Whether a process would find a file, as far as that can be told: its directory may have been away when the box was built. */
function finds (pid: number, file: string): boolean {
  try {
    lstatSync(`/proc/${pid}/root${file}`)
    return true
  } catch (error) {
    return errorCode(error) !== 'ENOENT'
  }
}
