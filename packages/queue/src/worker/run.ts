import type { CallError, JobData, OutputRecord } from '@toolyard/contract'
import { withoutUndefined } from '@toolyard/contract/terms'
import type { Job } from 'bullmq'
import { idOf } from '@toolyard/store'
import { publicPriority } from '../queues/fair-order.ts'
import type { Repeat } from '../backend/job-worker.ts'
import type { TakenJob } from './handler.ts'
import type { JobLogWriter } from '../record/log/job-log-writer.ts'
import type { JobProgressWriter } from '../record/log/job-progress.ts'

/** Why a run is ended whose lock is another worker's, or may be. */
export const lockLost: CallError = { code: 'WORKER_LOST', message: 'The worker lost its hold on the job' }
/** Why a run is ended when its worker stops. */
export const stopped: CallError = { code: 'WORKER_LOST', message: 'The worker stopped before the tool had finished' }

export interface Run {
  job: Job<JobData, OutputRecord>
  token: string
  abort: AbortController
  /** For all that a run writes about its job. */
  repeat: Repeat
  log: JobLogWriter
  progress: JobProgressWriter
  /** By `performance.now()`. */
  takenAt: number
  /** Of a job that needed an approval and has it: what was approved. */
  approved?: string | undefined
  /** Of a job whose tool has asked something: all answers. */
  answers?: readonly string[] | undefined
  /** Kept by its last run, with its question. */
  memo?: string | undefined
  /** Work for the job has begun. */
  isHandled: boolean
}

/** The job as its handler sees it, but for what its queue knows. */
export function takenJobOf (
  { job, abort: { signal }, log, progress, takenAt, approved, answers, memo }: Run, queue: string
): Omit<TakenJob, 'lostBefore' | 'begin' | 'waitedMs'> {
  return {
    id: idOf(job),
    queue,
    type: job.name,
    data: job.data,
    priority: publicPriority(job.priority),
    attempt: job.attemptsMade,
    takenAt,
    signal,
    ...withoutUndefined({ approved, answers, memo }),
    log: line => { log.write(line) },
    progress: make => { progress.write(make) }
  }
}
