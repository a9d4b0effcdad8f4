import type { CallError, ChangedFiles, JobData, OutputCut, Progress, SandboxState } from '@toolyard/contract'
import type { CallbackOptions } from '../callbacks/callback-worker.ts'
import type { Redis, WantedReplicas } from '@toolyard/store'
import type { StepWait } from '../change/job-flow.ts'
import type { HeldAgain } from '../record/approval.ts'
import type { Questions } from '../record/question.ts'
import type { LogLine } from '../record/log/job-log-writer.ts'
import type { Retention } from '../record/retention.ts'

export interface TakenJob {
  id: string
  queue: string
  type: string
  data: JobData
  /** 0..10, higher first. */
  priority: number
  /** How many runs of the job have failed before. */
  attempt: number
  /** An earlier worker began to run this job and didn't settle it: it died, or lost its lock. */
  lostBefore: boolean
  /**
   * To be called before a tool runs that may run only once; false when the job is another worker's by
   * now. Rejected with ReplicasMissingError when the tool must not run now.
   */
  begin: () => Promise<boolean>
  /** When it was taken, by `performance.now()`. */
  takenAt: number
  /** Milliseconds from when the job was due until it was taken; undefined for a later attempt. */
  waitedMs: number | undefined
  /** Aborted when the job is no longer this worker's, or the pool stops; `signal.reason` is a `CallError`. */
  signal: AbortSignal
  /** Of a job that was approved: names what was approved. */
  approved?: string
  /** The JSON of all answers to what its tool has asked, the oldest first; absent for one that has asked nothing. */
  answers?: readonly string[]
  /** Kept by its last run, with its question. */
  memo?: string
  /** Adds a line to the job's log, where it can be read at once; it must have no secret in it. */
  log: (line: LogLine) => void
  /** Reports how far the job is, any number of times. The text has no secret in it, and is made when it is written. */
  progress: (make: () => Progress) => void
}

export type HandlerResult =
  /** `value` is what `json` says, which is bytes where a thread wrote it: a long one is not copied. */
  | { kind: 'succeeded', json: string | Buffer, value: unknown, cut?: OutputCut, sandbox?: SandboxState } & ChangedFiles
  /** `retry`: the failure may pass, so that the job runs again while it has attempts left. */
  | { kind: 'failed', error: CallError, retry?: boolean, sandbox?: SandboxState }
  /** The job has made jobs and goes on when one of them has ended; until then it takes no slot. */
  | { kind: 'waits', wait: StepWait }
  /** Back to the queue: nothing was done, and the run counts as lost. */
  | { kind: 'requeued' }
  /** The call isn't what was approved: nothing was done, and the job is held again. */
  | { kind: 'held', held: HeldAgain }
  /** The tool asks something: the job waits for an answer. */
  | { kind: 'asks', ask: Questions }
  /** The job is another worker's by now. */
  | { kind: 'taken' }
  /**
   * Something that the job needs is elsewhere, or not there now: it waits, longer each time, as
   * if it hadn't been taken. `reason` is for the log. `nowhere`: no other worker
   * has it either, so that this one takes other jobs meanwhile.
   */
  | { kind: 'later', reason: string, nowhere?: boolean }

export interface WorkerPoolOptions {
  /** The id of the worker, which stands in the jobs that it takes; nothing does when it is absent. */
  name?: string
  redis: Redis
  /** For messages about cancelled jobs and new queues; may be shared. */
  subscriber: Redis
  retention: Retention
  /** Public queue names, or `['*']` for all that exist and will exist. */
  queues: readonly string[]
  /** Jobs that run at once, for each queue: one queue's load leaves the others their places. */
  concurrency: number
  /** Jobs that run at once, over all queues; any number when absent. */
  totalConcurrency?: number | undefined
  /** Calls of a tenant that run at once, over all workers; 0 for any number. */
  maxRunning?: (tenant: string | undefined) => number
  handle: (job: TakenJob) => Promise<HandlerResult>
  /** Whether calls of a tool run one at a time now, also those that were made before; absent: those that were made so do. */
  isSerial?: (tool: string) => boolean
  /** Whether it takes jobs now; always when absent. */
  mayTake?: () => boolean
  /** Undefined: the callbacks that jobs owe wait for another process. */
  callbacks?: CallbackOptions | undefined
  /** Who is told of held calls, beside the `callback_url` of each. */
  approvalUrl?: string | undefined
  /** How many replicas of Redis must know that a tool begins that may run only once; 0 when absent. */
  replicas?: WantedReplicas
  onError: (error: Error, queue: string) => void
}
