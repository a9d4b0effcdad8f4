import { setTimeout as sleep } from 'node:timers/promises'
import { killBox, processorMs, startProcess, type Started, type StartHost, type ProcessPlan } from '@toolyard/sandbox'
import type { Ready, Unfit } from './slot.ts'
import { familyBytes, readFamily, signalFamily, type FamilyState } from './family-state.ts'

/** Time between two looks at processes that have nothing to do, in milliseconds; the kernel counts processor time in steps of 10. */
const lookMs = 20
/** A tool whose start takes longer isn't kept ready. */
const startMs = 20_000
const stopMs = 2_000
/** Of a box: the process outside, the first one inside, and the tool. */
const fewest = 3

/** A process of a tool in its box that has come to rest, stopped, before its call. */
interface WaitingProcess extends Ready<Started> {
  /** Seconds of processor time that its start took. */
  cpuSec: number
}

/**
 * Starts a process and waits until it waits for its stdin: until it and all that it has started sleep and do nothing.
 * Then it is stopped, so that nothing of it runs before its call: it can't see a later call come, nor the end of the
 * worker as the end of its stdin, and takes no more memory than was measured.
 */
export async function startWaiting (plan: ProcessPlan, host: StartHost, signal: AbortSignal): Promise<WaitingProcess | Unfit> {
  const start = await startProcess(plan, host, { stdin: undefined, hold: true })
  if (!start.started) return { kind: 'unfit', reason: start.error.message, passing: true }
  const { child, box } = start
  const { pid } = child
  let early: Unfit | undefined
  const printed = (): void => { early ??= { kind: 'unfit', reason: 'it prints before it has read its arguments', passing: false } }
  for (const stream of [child.stdout, child.stderr]) stream.on('error', () => {}).on('data', printed)
  child.stdin?.on('error', () => {})
  void child.exited.then(ending => {
    early ??= ending.kind === 'exit'
      ? { kind: 'unfit', reason: 'it ends before it has read its arguments', passing: false }
      : { kind: 'unfit', reason: 'it was killed before its call', passing: true }
  })

  async function end (): Promise<void> {
    await killBox(pid)
    // Not before: the end of stdin would be an empty call.
    child.stdin?.destroy()
    child.release()
    box?.close()
  }

  const rested = await comeToRest(pid, () => early, signal)
  if (rested.kind === 'unfit') {
    // Its end by our hand is no reason.
    const reason = early ?? rested
    await end()
    return reason
  }
  child.letGo?.()
  return {
    kind: 'ready',
    bytes: familyBytes(rested.state, plan.env['HOME']),
    cpuSec: processorMs(pid) / 1_000,
    serve (_plan, stdin) {
      if (early !== undefined || child.stdin === undefined || !isWhole(readFamily(pid))) return undefined
      for (const stream of [child.stdout, child.stderr]) stream.off('data', printed)
      child.stdin.end(stdin)
      return signalFamily(pid, 'SIGCONT') ? start : undefined
    },
    end
  }
}

interface Rested {
  kind: 'rested'
  state: FamilyState
}

/** Waits until the processes have nothing to do, and stops them. */
async function comeToRest (root: number, early: () => Unfit | undefined, signal: AbortSignal): Promise<Rested | Unfit> {
  const until = performance.now() + startMs
  for (let before = ''; performance.now() < until;) {
    await sleep(lookMs)
    const state = readFamily(root)
    const faulty = early()
    if (faulty !== undefined) return faulty
    if (signal.aborted) return { kind: 'unfit', reason: 'the worker stops', passing: true }
    if (!state.whole) return { kind: 'unfit', reason: `it starts more than ${state.pids.length} processes before it has read its arguments`, passing: false }
    if (state.trace === before && state.pids.length >= fewest && /^S+$/.test(state.states)) {
      return state.inGroup
        ? await stop(root)
        : { kind: 'unfit', reason: 'it makes a session or group of processes of its own before it has read its arguments', passing: false }
    }
    before = state.trace
  }
  return { kind: 'unfit', reason: `it hasn't come to rest within ${startMs / 1_000} s of its start`, passing: false }
}

async function stop (root: number): Promise<Rested | Unfit> {
  signalFamily(root, 'SIGSTOP')
  const until = performance.now() + stopMs
  for (;;) {
    const state = readFamily(root)
    if (isWhole(state)) return { kind: 'rested', state }
    if (performance.now() > until) return { kind: 'unfit', reason: 'it could not be stopped', passing: true }
    await sleep(1)
  }
}

/** Whether all of it is there, and stopped. */
function isWhole ({ states, pids, whole, inGroup }: FamilyState): boolean {
  return whole && /^T+$/.test(states) && pids.length >= fewest && inGroup
}
