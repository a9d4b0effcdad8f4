import { jobKey, qualifiedName } from '@toolyard/store'
import type { JobsOptions } from 'bullmq'
import type { AddedJob } from '../backend/add-jobs.ts'
import type { JobQueue } from '../backend/backends.ts'
import { bullmq } from '../record/bullmq.ts'
import { carriedData } from '../record/job-arguments.ts'
import { indexEntries } from '../record/job-index.ts'
import type { CompleteJob, OwnOptions } from '../record/new-job.ts'

/** Before the second run a job waits 0.5 to 1 s, before each further one twice as long. */
const backoff = { type: 'exponential', delay: 1_000, jitter: 0.5 } as const

export function addedJob (queue: JobQueue, job: CompleteJob, priority: number, now: number): Omit<AddedJob, 'idempotencySec'> & { chars: number } {
  const { id, type, maxAttempts, delayMs, parent } = job
  const { hold } = job.data
  const data = carriedData(hold === undefined || delayMs === 0 ? job.data : { ...job.data, hold: { ...hold, delayMs } })
  // A held job is due when it can't be approved any more.
  const waitMs = hold === undefined ? delayMs : hold.expiresSec * 1_000
  const options: JobsOptions & OwnOptions = {
    // BullMQ serves low numbers first, and jobs without a priority before all others.
    priority,
    attempts: maxAttempts,
    stackTraceLimit: 0,
    ...(data.tenant === undefined ? {} : { tenant: data.tenant }),
    ...(data.session === undefined ? {} : { session: data.session }),
    ...(data.hold === undefined ? {} : { hold: 1 as const }),
    // Options are written and read with each job: those that say nothing are left out.
    ...(maxAttempts === 1 ? {} : { backoff }),
    ...(waitMs === 0 ? {} : { delay: waitMs }),
    // A parent is woken when one of its steps fails, and reads which.
    ...(parent === undefined ? {} : { parent: { id: parent.id, queue: qualifiedName(parent.queue) }, continueParentOnFailure: true })
  }
  const isPlain = waitMs === 0 && parent === undefined && data.dependsOn === undefined
  const text = JSON.stringify(data)
  return {
    id,
    isHeld: hold !== undefined,
    chars: text.length,
    entries: indexEntries(job),
    ...(parent === undefined ? {} : { step: { key: jobKey(parent.queue, parent.id), field: parent.field } }),
    ...(isPlain ? { plain: { name: type, data: text, opts: JSON.stringify(options), timestamp: now, priority } } : {}),
    general: () => {
      const made = new bullmq.Job(queue, type, data, options, id)
      made.timestamp = now
      const parentKeys = made.parentKey === undefined ? {} : { parentKey: made.parentKey, parentDependenciesKey: `${made.parentKey}:dependencies` }
      return { job: made.asJSON(), parent: { ...parentKeys, ...(data.dependsOn === undefined ? {} : { addToWaitingChildren: true }) } }
    }
  }
}
