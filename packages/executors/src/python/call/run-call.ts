import { writeFile } from 'node:fs/promises'
import { errorCode } from '@toolyard/contract/terms'
import { createCapture, readWithShare, type Captured } from '@toolyard/runtime'
import {
  type Deadline, closing, drainPipes, createLineSplitter, type OnProgress, enterGroups, endFirst, type CallGroup,
  type ProcessGroups, watchProcessorTime, type ProcessEnding
} from '@toolyard/sandbox'
import { disconnect } from '../wire/connections.ts'
import type { CallProcess, ForkEnding } from '../host/process-tree.ts'
import { encodeFrame } from '../wire/frames.ts'
import { readReply, type Reply } from './reply.ts'

/** The names are those of `call.py`. */
interface CallRequest {
  class: string | null
  name: string
  description: string
  config: Record<string, unknown>
  /** Null: only construct the class. */
  arguments: Record<string, unknown> | null
  cwd: string
  max_bytes: number
  /** Paths and bytes are returned as files: the call is in a session. */
  files?: true
  /** Answers to what it has asked before, as JSON: numbers keep their digits. */
  answers?: readonly string[]
  /** Texts that it reads from files of its own, by the variables that name these. */
  handed?: Readonly<Record<string, string>>
  /** Variables of only this call. */
  env?: Readonly<Record<string, string>>
}

export interface CallOptions {
  deadline: Deadline
  /** Takes each line that the tool prints, while it runs. */
  onLine: (line: string) => void
  onProgress?: OnProgress
  onSurvivors: (pids: number[]) => void
  /** The control group of the call; undefined for one that needs none. */
  group: CallGroup | undefined
  /** Makes a group that has a share of the processor of its own; absent where there are none. */
  share?: ProcessGroups['share'] | undefined
  /** Gets the processor time of the call's processes, in milliseconds; an estimate. */
  onUsed?: ((ms: number) => void) | undefined
  /** Is told of the call's process; what it returns is called when that is gone. */
  own?: ((pid: number) => () => void) | undefined
}

/** Most calls are over by then, in milliseconds. */
const briefMs = 50

/** The process was ended before it began: its control group didn't take it, or not its limits. */
interface Unbound { kind: 'unbound', cause: string }

export interface CallEnd {
  ending: Exclude<ProcessEnding, { kind: 'unstarted' }> | ForkEnding | Unbound
  reply: Reply
  /** How much it printed, and the end of it. */
  printed: Captured
}

interface Running {
  process: CallProcess
  reply: Reply
  printedBytes: () => number
  /** Both connections ended. */
  closed: Promise<true>
}

/**
 * Runs one call in its process, to its end, its timeout or its abort. Fulfilled when all of its output is read and
 * no process of it is left; never rejected.
 */
export async function runCall (
  process: CallProcess, request: CallRequest, { deadline, onLine, onProgress, onSurvivors, group, share, onUsed, own }: CallOptions
): Promise<CallEnd> {
  const { requests, replies, output } = process
  const lines = createLineSplitter(onLine, onProgress)
  const printed = createCapture(0)
  readWithShare(output, chunk => {
    printed.add(chunk)
    lines.add(chunk)
  })
  const reply = readReply(replies, request.max_bytes)
  const closed = Promise.all([closing(replies), closing(output)]).then((): true => true)
  const unbound = group === undefined ? undefined : await enterGroup(group, process)
  const isPlaced = await Promise.race([placeInMemory(process), deadline.interrupted.then(() => false)])
  const run: Running = { process, reply, printedBytes: () => printed.totalBytes(), closed }
  const endWatch = onUsed === undefined ? undefined : watchProcessorTime(() => process.tree.first())
  const first = process.tree.first()
  const disown = first === undefined ? undefined : own?.(first)
  if (unbound === undefined && isPlaced) requests.write(encodeFrame(request))
  const endShare = group !== undefined || share === undefined ? undefined : shareLater(process, share)

  const ending = unbound ?? await Promise.race([process.ended, deadline.interrupted])
  if (endWatch !== undefined) onUsed?.(endWatch())
  const survivors = ending.kind === 'timeout' || ending.kind === 'abort'
    ? await process.tree.terminate(process.ended)
    : await cleanUp(run, ending)
  disown?.()
  disconnect(process)
  lines.end()
  process.release()
  void endShare?.()
  if (survivors.length > 0) onSurvivors(survivors)
  return { ending, reply, printed: printed.read() }
}

/**
 * Before its arguments come, so that no code of the tool has run for this call. A process that is being born has the place that its
 * parent had a moment before.
 */
async function placeInMemory ({ tree }: CallProcess): Promise<boolean> {
  for (const pid of [tree.first(), await tree.born()]) if (pid !== undefined) endFirst(pid)
  return true
}

async function enterGroup ({ members, limits }: CallGroup, { tree }: CallProcess): Promise<Unbound | undefined> {
  try {
    await tree.enter(async pid => { await enterGroups(members, [pid]) })
    for (const [file, value] of limits) await writeFile(file, value)
    return undefined
  } catch (error) {
    return { kind: 'unbound', cause: errorCode(error) ?? 'unknown' }
  }
}

/** Gives a call that takes longer a share of its own, beside the other calls of its host. What is returned ends that, and never rejects. */
function shareLater ({ tree }: CallProcess, make: ProcessGroups['share']): () => Promise<void> {
  let group: CallGroup | undefined
  let entered: Promise<void> | undefined
  async function enter (): Promise<void> {
    try {
      const { members } = group = make('inner')
      await tree.enter(async pid => { await enterGroups(members, [pid]) })
    } catch {
      // There may be as many groups as the machine allows: it stays with its host.
    }
  }
  const timer = setTimeout(() => { entered = enter() }, briefMs)
  return async () => {
    clearTimeout(timer)
    await entered
    await group?.remove()
  }
}

/** After an exit: the rest of the output, then an end to whatever the process left behind. */
async function cleanUp ({ process: { tree }, reply, printedBytes, closed }: Running, ending: ForkEnding | Unbound): Promise<number[]> {
  // Nobody saw the process end: it may be running.
  if (ending.kind === 'lost' || ending.kind === 'unbound') return await tree.kill()
  // A cancel or a timeout that comes now is too late: the reply is in the pipes.
  const closedByItself = await drainPipes(closed, () => reply.receivedBytes() + printedBytes())
  return closedByItself && !tree.mayOutlive() ? [] : await tree.kill()
}
