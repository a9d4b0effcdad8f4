import { orElse } from '@toolyard/contract/terms'
import { readFileSync } from 'node:fs'
import { familyOf, readStatFields, readStatLater } from './process-table.ts'

/** How often the processes of a call are looked at, in milliseconds; large families less often. */
const lookMs = 500
/** Of what /proc tells, on every machine. */
const msPerTick = 10
const nsPerMs = 1_000_000
/**
 * A look takes up to some milliseconds of an event loop: a call may have thousands of processes. It is followed by a rest of so many
 * times as long, for each call that is looked at. So all looks together take a fiftieth of the time at most.
 */
const restTimes = 49
/** What one process takes of the event loop beside the waits for a thread, in milliseconds. */
const processMs = 0.1
let watched = 0
/** The last look that has begun. One is made after the other: each may have to wait for the kernel (see `readStatLater`). */
let looking = Promise.resolve()

/** Both in milliseconds, the first since the call began. */
export interface Look {
  atMs: number
  usedMs: number
}

/**
 * Looks at a process and all that descends from it, again and again, the first time at a random moment: every half second, and
 * less often where many calls have many processes.
 *
 * @param find the first process, as long as it is there
 * @param before the processor time that it had used before the call, in milliseconds
 * @returns ends this, and tells the processor time that they used, in milliseconds: an estimate (see `estimateUsed`)
 */
export function watchProcessorTime (find: () => number | undefined, before = 0): () => number {
  const begun = performance.now()
  const looks: Look[] = [{ atMs: 0, usedMs: before }]
  let isOver = false
  let timer = setTimeout(waitAndLook, Math.random() * lookMs).unref()
  watched += 1

  function waitAndLook (): void {
    looking = looking.then(look)
  }

  /** Never rejects. */
  async function look (): Promise<void> {
    if (isOver) return
    const lookedAt = performance.now()
    const pid = find()
    const pids = pid === undefined ? [] : familyOf(pid).pids
    const tookMs = performance.now() - lookedAt + pids.length * processMs
    const usedMs = await usedBy(pids)
    if (isOver) return
    // The use of processes whose parent didn't wait for them is no longer seen: the sum may fall.
    looks.push({ atMs: performance.now() - begun, usedMs: Math.max(usedMs, looks.at(-1)?.usedMs ?? 0) })
    if (looks.length > 2) looks.shift()
    timer = setTimeout(waitAndLook, Math.max(lookMs, restTimes * watched * tookMs)).unref()
  }

  return () => {
    clearTimeout(timer)
    isOver = true
    watched -= 1
    return before + estimateUsed(looks, performance.now() - begun, before)
  }
}

/**
 * The use of a call, from the last two looks at it (its beginning counts as one). Nobody sees its end, so the last use
 * goes on until then. A call that is shorter than the time between two looks is seen with the probability that its share of
 * that time is, and then stands for those that weren't: the sum over many calls is right, a single one's number is not.
 */
export function estimateUsed (looks: readonly Look[], ranMs: number, before = 0): number {
  const [earlier, last] = [looks.at(-2), looks.at(-1)]
  if (earlier === undefined || last === undefined || ranMs <= 0) return 0
  const rate = (last.usedMs - earlier.usedMs) / Math.max(1, last.atMs - earlier.atMs)
  return (last.usedMs - before + rate * (ranMs - last.atMs)) * Math.max(1, lookMs / ranMs)
}

/**
 * Milliseconds of processor time that a process and its descendants have used, those that have ended and were waited for included;
 * of a large family, those of a part of it. For processes that are at rest: the event loop waits for those that are in an `exec`.
 *
 * @param proc the /proc to read
 */
export function processorMs (first: number, proc = '/proc'): number {
  return familyOf(first, proc).pids.reduce((sum, pid) => sum + orElse(() => msOf(readStatFields(pid, proc), pid, proc), 0), 0)
}

/** The same of processes that run. */
async function usedBy (pids: readonly number[]): Promise<number> {
  let ms = 0
  for (const pid of pids) ms += await readStatLater(pid).then(fields => msOf(fields, pid, '/proc'), () => 0)
  return ms
}

function msOf (fields: readonly string[], pid: number, proc: string): number {
  const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15).map(Number)
  // The ticks are of all threads, and coarse; the nanoseconds are exact, and of the first thread.
  return Math.max((user + system) * msPerTick, firstThreadNs(pid, proc) / nsPerMs) + (childUser + childSystem) * msPerTick
}

/** 0 for a kernel that doesn't tell. */
function firstThreadNs (pid: number, proc: string): number {
  return orElse(() => Number(readFileSync(`${proc}/${pid}/schedstat`, 'latin1').split(' ')[0]), 0)
}
