import type { Hold, JobData } from '@toolyard/contract'
import { jobKey, qualifiedName } from '@toolyard/store'
import type { JobsOptions } from 'bullmq'
import type { AddedJob } from '../backend/add-jobs.ts'
import { carriedData } from '../record/job-arguments.ts'
import { indexEntries } from '../record/job-index.ts'
import type { ShownCall } from '../record/approval.ts'
import type { CompleteJob, OwnOptions } from '../record/new-job.ts'

/** Before the second run a job waits 0.5 to 1 s, before each further one twice as long. */
const backoff = { type: 'exponential', delay: 1_000, jitter: 0.5 } as const

export function addedJob (job: CompleteJob, priority: number, now: number): Omit<AddedJob, 'idempotencySec'> {
  const { id, type, maxAttempts, delayMs } = job
  const parent = job.parent && { id: job.parent.id, queue: qualifiedName(job.parent.queue) }
  const { hold } = job.data
  const data = carriedData(hold === undefined || delayMs === 0 ? job.data : { ...job.data, hold: { ...hold, delayMs } })
  // A held job is due when it can't be approved any more.
  const waitMs = hold === undefined ? delayMs : hold.expiresSec * 1_000
  const options: JobsOptions & OwnOptions & { cpof?: true } = {
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
    // BullMQ's short name: a parent is woken when one of its steps fails, and reads which.
    ...(parent && { parent, cpof: true })
  }
  return {
    id,
    kind: data.dependsOn !== undefined ? 'addParentJob' : waitMs > 0 ? 'addDelayedJob' : parent === undefined ? 'plain' : 'addPrioritizedJob',
    name: type,
    data: JSON.stringify(data),
    opts: JSON.stringify(options),
    timestamp: now,
    priority,
    shown: data.hold === undefined ? '' : shownText(data, data.hold, job.preview),
    entries: indexEntries(job),
    ...(job.parent && {
      parent: JSON.stringify({ id: job.parent.id, queueKey: qualifiedName(job.parent.queue), cpof: true }),
      step: { key: jobKey(job.parent.queue, job.parent.id), field: job.parent.field }
    })
  }
}

function shownText (data: JobData, hold: Hold, preview = ''): string {
  const { tool, version, keyName, tenant, session, conversation, callbackUrl } = data
  return JSON.stringify({ tool, version, keyName, tenant, session, conversation, callbackUrl, hold, preview } satisfies ShownCall)
}
