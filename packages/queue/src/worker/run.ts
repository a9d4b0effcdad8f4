import type { CallError, JobData, OutputRecord } from '@toolyard/contract'
import type { Job } from 'bullmq'
import type { JobLogWriter } from '../record/log/job-log-writer.ts'
import type { JobProgressWriter } from '../record/log/job-progress.ts'

/** Why a run is ended whose lock is another worker's, or may be. */
export const lockLost: CallError = { code: 'WORKER_LOST', message: 'The worker lost its hold on the job' }
/** Why a run is ended when its worker stops. */
export const stopped: CallError = { code: 'WORKER_LOST', message: 'The worker stopped before the tool had finished' }

/** A job that a queue's worker runs. */
export interface Run {
  job: Job<JobData, OutputRecord>
  token: string
  abort: AbortController
  log: JobLogWriter
  progress: JobProgressWriter
  /** By `performance.now()`. */
  takenAt: number
  /** What is done for the job has begun. */
  isHandled: boolean
}
