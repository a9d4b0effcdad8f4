import type { JobResponse } from '@toolyard/contract'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { runsOf } from '../faults/stamp.ts'
import type { Caller } from './caller.ts'
import type { Ask, AskedWorkflow, Ledger } from './calls.ts'
import type { Interval } from './fault.ts'
import type { World } from './world.ts'

type Job = JobResponse['job']

/** How long nothing more may end of all that was asked for, once everything is healed: longer than the time of a workflow. */
const settleMs = 180_000
/** How many jobs are read at the same time. */
const readers = 8
/** A failover undoes ends that the new master doesn't know of: of jobs that were named so long before it. */
const undoneMs = 60_000
/** How long a worker may take to notice that it was stopped, and to end its runs. */
const wakeMs = 10_000

/** Codes with which a call of each tool may end, beside those that any may end with. */
const codesOf: Record<Ask['tool'], readonly string[]> = {
  once: [], again: [], talks: [], large: [], record: [], asks: [], flaky: ['TOOL_FAILED'], forks: ['TOOL_TIMEOUT'], held: ['APPROVAL_DENIED', 'APPROVAL_EXPIRED']
}
const anyCode = ['ok', 'WORKER_LOST', 'JOB_CANCELLED', 'QUEUE_FULL', 'TIMEOUT']

/** Waits for the end of all jobs, and notes each doubt. */
export async function checkOutcomes (world: World, ledger: Ledger, caller: Caller, intervals: readonly Interval[]): Promise<void> {
  const jobs = await readToTheEnd(ledger, caller)
  await delay(3_000)
  await inTurns([...jobs], async ([id, job]) => {
    const later = await caller.until<JobResponse>(caller.key(), `/v1/jobs/${id}`)
    const end = later.status === 200 ? endOf(later.body.job) : `an answer ${later.status}`
    if (end !== endOf(job)) ledger.doubt(`job ${id} ended as ${endOf(job)}, and as ${end} later`, id)
  })
  const runs = runsOf(world.service)
  const order = linesOf(world, 'runs')
  for (const ask of ledger.asks) checkAsk(ask, { ledger, jobs, runs: runs.get(ask.mark) ?? 0, order, intervals })
  for (const asked of ledger.workflows) checkWorkflow(asked, ledger, jobs, intervals)
  checkSerial(world, ledger, intervals)
  await checkCallbacks(world, ledger, jobs, intervals)
}

async function readToTheEnd (ledger: Ledger, caller: Caller): Promise<Map<string, Job>> {
  const jobs = new Map<string, Job>()
  const asked = [
    ...ledger.asks.map(({ mark, jobIds }) => ({ mark, jobIds })), ...ledger.workflows.map(({ run, jobIds }) => ({ mark: run, jobIds }))
  ]
  const open = new Map(asked.flatMap(({ mark, jobIds }) => [...jobIds].map(id => [id, mark] as const)))
  const unended = new Map<string, Job>()
  let progressAt = performance.now()
  while (open.size > 0 && performance.now() < progressAt + settleMs) {
    const before = open.size
    await inTurns([...open], async ([id, mark]) => {
      const answer = await caller.until<JobResponse>(caller.key(), `/v1/jobs/${id}`)
      if (answer.status !== 200) {
        open.delete(id)
        ledger.doubt(answer.status === 404 ? `job ${id} is gone` : `job ${id} is answered with ${answer.status}: ${answer.text.slice(0, 300)}`, mark)
      } else if (['succeeded', 'failed', 'cancelled'].includes(answer.body.job.status)) {
        open.delete(id)
        jobs.set(id, answer.body.job)
      } else {
        unended.set(id, answer.body.job)
        // A failover has undone its cancel.
        if (answer.body.job.status === 'input_required') await caller.until(caller.key(), `/v1/jobs/${id}/cancel`, { method: 'POST' })
      }
    })
    if (open.size < before) progressAt = performance.now()
    await delay(500)
  }
  for (const [id, mark] of open) ledger.doubt(`job ${id} has not ended: ${JSON.stringify({ ...unended.get(id), input: undefined })}`, mark)
  return jobs
}

/** Does something with each item, with a few of them at a time. */
async function inTurns<T> (items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  const left = items.values()
  await Promise.all(Array.from({ length: readers }, async () => { for (const item of left) await act(item) }))
}

function checkAsk (ask: Ask, { ledger, jobs, runs, order, intervals }: {
  ledger: Ledger, jobs: Map<string, Job>, runs: number, order: string[], intervals: readonly Interval[]
}): void {
  const { mark, tool } = ask
  if (ask.jobIds.size > 1) ledger.doubt(`${mark} has the jobs ${[...ask.jobIds].join()}`, mark)
  if (tool !== 'again' && runs > ask.maxRuns) ledger.doubt(`${mark} (${tool}) ran ${runs} times, where ${ask.maxRuns} is the most: ${JSON.stringify([...ask.jobIds].map(id => jobs.get(id)).map(job => ({ ...job, input: undefined, result: undefined })))}`, mark)
  const job = [...ask.jobIds].map(id => jobs.get(id)).find(job => job !== undefined)
  const ends = new Set([...ask.ends, ...job === undefined ? [] : [endOf(job)]])
  // Who stops waiting is told TIMEOUT. A call that was refused may be repeated, and is then made.
  const final = [...ends].filter(end => end !== 'TIMEOUT' && (end !== 'QUEUE_FULL' || ends.size === 1))
  if (final.includes('QUEUE_FULL') && runs > 0) ledger.doubt(`${mark} was refused as QUEUE_FULL, and ran`, mark)
  if (final.length > 1 && mayBeUndone(ask, intervals)) ledger.count('ends that a failover undid')
  else if (final.length > 1) ledger.doubt(`${mark} has the outcomes ${final.join()}`, mark)
  for (const end of ends) {
    ledger.count(`end ${end}`)
    const mayEnd = [...anyCode, ...codesOf[tool], ...ask.after.length > 0 ? ['DEPENDENCY_BLOCKED'] : []]
    if (!mayEnd.includes(end)) ledger.doubt(`${mark} (${tool}) ended with ${end}: ${JSON.stringify(job?.error)}`, mark)
  }
  if (tool === 'held' && runs > 0 && !ask.decisions.has('approve')) ledger.doubt(`${mark} ran without an approval`, mark)
  if (ask.decisions.size > 1) ledger.doubt(`${mark} was approved and denied`, mark)
  if (ask.decisions.has('deny') && (runs > 0 || ends.has('APPROVAL_EXPIRED'))) ledger.doubt(`${mark} was denied, ran ${runs} times and ended with ${[...ends].join()}`, mark)
  if (ask.answers.size > 1) ledger.doubt(`${mark} has the answers of ${[...ask.answers].join()}`, mark)
  const answered = [...ask.answers][0]
  if (tool === 'asks' && job?.status === 'succeeded' && JSON.stringify(job.result) !== JSON.stringify({ by: answered })) ledger.doubt(`${mark} was answered by ${answered}, and gave out ${JSON.stringify(job.result)}`, mark)
  if (ends.has('ok') && runs === 0) ledger.doubt(`${mark} succeeded and has not run`, mark)
  if (tool === 'again' && job?.error?.code === 'WORKER_LOST' && !job.error.message.includes('given up')) ledger.doubt(`${mark} may run again, and ended with WORKER_LOST: ${job.error.message}`, mark)
  if (job !== undefined) checkCancel(`${mark} was cancelled`, ask, job, { ledger, intervals, mark })
  for (const earlier of ask.after) {
    if (runs > 0 && !order.slice(0, order.indexOf(mark)).includes(earlier)) ledger.doubt(`${mark} ran before ${earlier}, on which it depends`, mark, earlier)
  }
}

function checkWorkflow (asked: AskedWorkflow, ledger: Ledger, jobs: Map<string, Job>, intervals: readonly Interval[]): void {
  const { run, jobIds } = asked
  const job = [...jobIds].map(id => jobs.get(id)).find(job => job !== undefined)
  if (job === undefined) return
  ledger.count(`workflow ${endOf(job)}`)
  checkCancel(`the workflow ${run} was cancelled`, asked, job, { ledger, intervals, mark: run })
}

/** A failover undoes a cancel that the new master doesn't know of. */
function checkCancel (
  what: string, { cancel, cancelledAt = 0 }: Pick<Ask, 'cancel' | 'cancelledAt'>, { status }: Job,
  { ledger, intervals, mark }: { ledger: Ledger, intervals: readonly Interval[], mark: string }
): void {
  if (cancel !== 'cancelled' || status === 'cancelled') return
  const isUndone = intervals.some(({ what, from, to }) => what === 'failover' && cancelledAt < to && cancelledAt > from - undoneMs)
  if (isUndone) ledger.count('cancels that a failover undid')
  else ledger.doubt(`${what}, and is ${status}`, mark)
}

/** No two runs of the serial tool overlap, but for those whose worker stood still: nobody else can end these. */
function checkSerial (world: World, ledger: Ledger, intervals: readonly Interval[]): void {
  let running: string | undefined
  const lines = linesOf(world, 'serial')
  for (const [index, line] of lines.entries()) {
    const [what, mark = ''] = line.split(' ')
    if (what === 'end') {
      if (running === mark) running = undefined
      continue
    }
    const before = running
    running = mark
    // A run without an end was killed.
    if (before === undefined || !lines.slice(index).includes(`end ${before}`)) continue
    if (intervals.some(({ what, from, to }) => what === 'worker stopped' && to + wakeMs > from)) ledger.count('serial runs that overlap')
    else ledger.doubt(`the serial runs of ${before} and ${mark} overlap`, before, mark)
  }
}

/** Each job that ended is told of once: all that arrives for it has one id. */
async function checkCallbacks ({ receiver }: World, ledger: Ledger, jobs: Map<string, Job>, intervals: readonly Interval[]): Promise<void> {
  const owed = ledger.asks.filter(({ callback, jobIds }) => callback !== undefined && [...jobIds].some(id => jobs.has(id)))
  const of = (path: string): typeof receiver.received => receiver.received.filter(each => each.path === path)
  const deadline = performance.now() + 120_000
  while (performance.now() < deadline && owed.some(({ callback }) => of(callback ?? '').length === 0)) await delay(500)
  for (const ask of owed) {
    const { mark, callback = '', jobIds } = ask
    const all = of(callback)
    const ids = new Set(all.map(({ headers }) => String(headers['x-toolyard-delivery'])))
    const statuses = new Set(all.map(({ body }) => body.status))
    const job = jobs.get([...jobIds][0] ?? '')
    if (all.length === 0) ledger.doubt(`${mark} was not called back`, mark)
    else if (ids.size > 1 && mayBeUndone(ask, intervals)) ledger.count('callbacks again, as a failover undid an end')
    else if (ids.size > 1) ledger.doubt(`${mark} was called back as ${[...ids].join()}`, mark)
    else if (job !== undefined && (statuses.size > 1 || !statuses.has(job.status))) ledger.doubt(`${mark} is ${job.status}, and was called back as ${[...statuses].join()}`, mark)
    ledger.count('callbacks')
  }
}

/** Its job ends at some time after it was asked for, and its first answer may come late. */
function mayBeUndone ({ askedAt, namedAt = askedAt }: Ask, intervals: readonly Interval[]): boolean {
  return intervals.some(({ what, from, to }) => what === 'failover' && askedAt < to && namedAt > from - undoneMs)
}

function endOf (job: Job): string {
  if (job.status === 'succeeded') return 'ok'
  return job.status === 'cancelled' ? 'JOB_CANCELLED' : job.error?.code ?? 'no code'
}

function linesOf ({ service }: World, name: string): string[] {
  const file = join(service.dir, 'workspace', name)
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(line => line !== '') : []
}
