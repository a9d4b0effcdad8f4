import { readWithShare } from '@toolyard/runtime'
import { startDeadline, type Deadline } from './plan/deadline.ts'
import type { BoxStatus } from './plan/box.ts'
import { boxEnding } from './end/box-end.ts'
import type { ProcessEnding } from './end/ending.ts'
import { killBox, strikeBox } from './table/box-kill.ts'
import { createCapture, type Capture, type Captured } from '@toolyard/runtime'
import { drainPipes } from './end/drain.ts'
import type { Child } from './launch/child.ts'
import { createLineSplitter, type OnProgress } from './end/lines.ts'
import { processorMs, watchProcessorTime } from './table/processor-time.ts'
import type { ProcessPlan } from './plan/plan.ts'
import { signalGroup } from './table/process-table.ts'
import { startProcess, type StartHost, type Started } from './launch/start.ts'
import { terminate } from './launch/terminate.ts'
import { killDescendants } from './launch/open.ts'

/** For error messages; all of stderr goes to the log. */
const stderrBytes = 65_536

interface ProcessOptions {
  /** Written to stdin, then EOF. A process that doesn't read it is no error. */
  stdin: string
  timeoutMs: number
  signal: AbortSignal
  /** Bytes of stdout to keep; the rest is read and counted. */
  maxOutputBytes: number
  /** Takes each line of stderr while the process runs. */
  onLine: (line: string) => void
  /** Takes those that tell how far it is; without it they are lines like others. */
  onProgress?: OnProgress
}

export interface RunTrace {
  /** Variables for the processes of the tool, which tell them where they belong. */
  variables: Readonly<Record<string, string>>
  /** Gets each stage of a process when it is over; times are those of `performance.now()`. May be absent. */
  stage?: (name: 'sandbox' | 'run', from: number, to: number) => void
}

export interface ProcessHost extends StartHost {
  /** Gets the pids of processes that outlived SIGKILL. */
  onSurvivors: (pids: number[]) => void
  /** Of the call that is run. */
  trace?: RunTrace | undefined
  /** Gets the processor time of each process and what it started, in milliseconds; an estimate. */
  used?: ((ms: number) => void) | undefined
  /** Is told of the first process of the call; what it returns is called when that is gone. */
  own?: ((pid: number) => () => void) | undefined
  /** Gives a process that was started for this plan before, and has just got its stdin; undefined: one is to be started. */
  ready?: ((plan: ProcessPlan, stdin: string) => Promise<Started | undefined>) | undefined
}

/** How a process ended, and what it printed until then. */
export interface ProcessEnd {
  ending: ProcessEnding
  stdout: Captured
  stderr: Captured
  /** Wall time in milliseconds. */
  ms: number
}

/**
 * Runs one process to its end: exit, timeout or abort, whichever is first. Fulfilled when all of its output is read and
 * no process of it is left; never rejected.
 */
export async function runProcess (plan: ProcessPlan, options: ProcessOptions, host: ProcessHost): Promise<ProcessEnd> {
  const begun = performance.now()
  const stdout = createCapture(options.maxOutputBytes)
  const stderr = createCapture(stderrBytes)
  const deadline = startDeadline(options.timeoutMs, options.signal)
  try {
    const ending = await runUntil(plan, options, host, { deadline, stdout, stderr })
    return { ending, stdout: stdout.read(), stderr: stderr.read(), ms: performance.now() - begun }
  } finally {
    deadline.clear()
  }
}

interface Run {
  deadline: Deadline
  stdout: Capture
  stderr: Capture
}

async function runUntil (plan: ProcessPlan, options: ProcessOptions, host: ProcessHost, run: Run): Promise<ProcessEnding> {
  const asked = performance.now()
  const ready = await host.ready?.(plan, options.stdin)
  const start = ready ?? await startProcess(plan, host, { stdin: options.stdin, interrupted: run.deadline.interrupted })
  // A start that was interrupted has not failed.
  if (!start.started) return await Promise.race([run.deadline.interrupted, Promise.resolve({ kind: 'unstarted', error: start.error } as const)])
  const begun = performance.now()
  host.trace?.stage?.('sandbox', asked, begun)
  const { child, box } = start
  const { pid, exited, closed } = child
  const endWatch = host.used === undefined ? undefined : watchProcessorTime(() => pid, ready === undefined ? 0 : processorMs(pid))
  const disown = host.own?.(pid)
  const finishLines = readPipes(child, run, options)

  const ending = await Promise.race([exited, run.deadline.interrupted])
  if (endWatch !== undefined) host.used?.(endWatch())
  const survivors = ending.kind === 'timeout' || ending.kind === 'abort'
    ? await terminate(start)
    : await cleanUp({ pid, box }, run, closed)
  disown?.()
  child.release()
  finishLines()
  host.trace?.stage?.('run', begun, performance.now())
  if (survivors.length > 0) host.onSurvivors(survivors)
  return box === undefined ? ending : await closeBox(ending, plan, box, run.stderr)
}

async function closeBox (ending: ProcessEnding, plan: ProcessPlan, box: BoxStatus, stderr: Capture): Promise<ProcessEnding> {
  try {
    return await boxEnding(ending, plan, box, stderr.read().kept)
  } finally {
    box.close()
  }
}

/** Reads both pipes from the first byte on; returns what hands on the last line. */
function readPipes (child: Child, { stdout, stderr }: Run, { onLine, onProgress }: ProcessOptions): () => void {
  const lines = createLineSplitter(onLine, onProgress)
  readWithShare(child.stdout.on('error', () => {}), chunk => { stdout.add(chunk) })
  readWithShare(child.stderr.on('error', () => {}), chunk => {
    stderr.add(chunk)
    lines.add(chunk)
  })
  return () => { lines.end() }
}

/** After an exit: the rest of the output, then an end to whatever the process left behind. */
async function cleanUp ({ pid, box }: { pid: number, box: BoxStatus | undefined }, run: Run, closed: Promise<true>): Promise<number[]> {
  // So that no process has the pipes open any more; what is in them stays readable.
  if (box !== undefined) strikeBox(pid)
  // A cancel or a timeout that comes now is too late: what the tool printed is in the pipes.
  const closedByItself = await drainPipes(closed, () => run.stdout.totalBytes() + run.stderr.totalBytes())
  if (box !== undefined) return await killBox(pid)
  return closedByItself && !signalGroup(pid, 0) ? [] : await killDescendants(pid)
}
