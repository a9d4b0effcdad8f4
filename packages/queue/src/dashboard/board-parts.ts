import type { Redact } from '@toolyard/runtime'
import type { Redis } from '@toolyard/store'
import type { FinishedJobs, Operator } from '../change/finished-jobs.ts'
import type { JobLogs } from '../record/log/job-log.ts'
import type { JobQueues } from '../queues/job-queues.ts'
import type { OutputStore } from '../record/output-store.ts'
import type { QueueDirectory } from '../queues/queue-directory.ts'

export interface BoardParts {
  redis: Redis
  directory: QueueDirectory
  queues: JobQueues
  outputs: OutputStore
  logs: JobLogs
  finished: FinishedJobs
}

/** Who looks at the board. */
export interface Viewer extends Operator {
  /** The only queues to be shown; undefined means all. */
  queueAllowlist: readonly string[] | undefined
  readOnly: boolean
  /** Replaces secrets in a text. */
  redact: Redact
}

/** The dashboard doesn't do this; the message says why, or what to do instead. */
export class RefusedAction extends Error {
  override readonly name = 'RefusedAction'
}

/** A request of bull-board's page to its API. */
export interface BoardRequest {
  method: string
  /** Below `api`, such as `/queues`, not decoded. */
  path: string
  query: Record<string, unknown>
  body: unknown
}

/** An answer to bull-board's page; `body` is JSON. */
export interface BoardAnswer {
  status: number
  body: unknown
}
