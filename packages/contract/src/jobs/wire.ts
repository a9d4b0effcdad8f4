import type { ResultFile } from '../calls/agent-tools.ts'
import type { ApprovalCallbackBody } from './callbacks.ts'
import type { CallError } from '../terms/errors.ts'
import type { Permission } from '../terms/permissions.ts'

/** The data of a BullMQ job. Small, and no secret in it. */
export interface JobData {
  /** Of the process that added the job. */
  protocol?: number
  /** The tool's name in the registry. */
  tool: string
  arguments: Record<string, unknown>
  /** The arguments as JSON, where JavaScript would write their numbers or their order otherwise. */
  argumentsText?: string
  /** Which version of the tool the job was made for: what was checked then. */
  version?: string
  timeoutSec: number
  tags: string[]
  /** Name (never the value) of the API key that submitted the job. */
  keyName: string
  /** The tenant of that key; absent for the operator's keys. */
  tenant?: string
  /** The session whose files are its workspace. */
  session?: string
  /** The caller's name for its conversation. */
  conversation?: string
  /** It runs once it is approved. */
  hold?: Hold
  /** One call of the tool at a time, over the whole pool. */
  serial?: true
  /** Jobs that must have succeeded before this one runs. */
  dependsOn?: JobDependency[]
  /** The submitting key's bounds, for a job that makes jobs; absent parts are not restricted. */
  access?: JobAccess
  /** Names what that key may do, beside `access`: see `keyPart` of the store. */
  keyPart?: string
  /** The submitting key's bounds on tools; absent when it sets none. */
  keyPermissions?: Permission[]
  /** The hosts that tools may reach for it; absent when the key sets no bound. */
  keyHosts?: string[]
  /** The API process that waits for the outcome, if one does. */
  replyTo?: string
  /** Who is told of the job's end. */
  callbackUrl?: string
  /** For logs and traces; nothing depends on it. */
  origin?: JobOrigin
}

/** The approval that a job needs, and who may give it. */
export interface Hold {
  /** The expression of the rule; absent for a tool that always needs an approval. */
  rule?: string
  reason?: string
  /** How many keys must approve. */
  approvers: number
  /** The only keys that may decide; every approver when absent. */
  by?: string[]
  /** The key that submitted it may decide. */
  self: boolean
  /** Milliseconds after its submission before which it doesn't run; absent: none. */
  delayMs?: number
  /** Seconds until nobody can approve it any more. */
  expiresSec: number
  /** Names what is approved: see `approvalDigest`. */
  digest: string
  /** The parts of the digest beside the call itself. */
  parts: HoldParts
}

/** Digests of what must be the same when the job runs. */
export interface HoldParts {
  /** The tool's entry of its manifest, as it is served. */
  entry: string
  /** The tool's files, as far as the API process could read them; null where it couldn't. */
  program: string | null
  /** The key's bounds. */
  key: string
}

export interface JobOrigin {
  request: string
  /** The caller's `call_id`, or as much of it as is shown. */
  call?: string
  /** The parent of the job's spans: see `TraceContext`. */
  traceparent?: string
  tracestate?: string
}

/** The end of a job that its `callbackUrl` is told of. */
export interface CallbackData {
  url: string
  /** The tenant, or the key, whose it is. */
  owner: string
  queue: string
  jobId: string
  type: string
  /** Runs that were begun, and that were allowed. */
  attempts: number
  maxAttempts: number
  settlement: Settlement
  /** Milliseconds since 1970. */
  finishedOn: number
}

export interface ApprovalCallbackData extends Pick<CallbackData, 'url' | 'owner' | 'queue' | 'jobId' | 'type'> {
  body: ApprovalCallbackBody
}

/** A job that another one depends on; without a queue it was missing, or not for the key to see, when that was submitted. */
export interface JobDependency {
  id: string
  queue?: string
}

/** Bounds of a key, also for the jobs that its jobs make; undefined is everything. */
export interface JobAccess {
  queues?: readonly string[] | undefined
  permissions?: readonly Permission[] | undefined
  /** Of whose tools; undefined: of all. */
  namespaces?: readonly string[] | undefined
  /** That tools may reach. */
  hosts?: readonly string[] | undefined
  /** Whose key it is, which has bounds of its own; undefined: the operator's. */
  tenant?: string | undefined
}

/** The output of a call that succeeded, as it travels: inline when small, else a pointer to where it is stored once. */
export type OutputRecord = (
  /** `text` is its JSON, where JavaScript would write that otherwise. */
  | { kind: 'inline', value: unknown, text?: string, cut?: OutputCut }
  | { kind: 'stored', bytes: number, cut?: OutputCut }
) & { sandbox?: SandboxState } & ChangedFiles

export interface ChangedFiles {
  files?: ResultFile[]
  /** More were changed than are named. */
  moreFiles?: true
}

/** How well processes are shut in: `full`, every layer holds; `partial`; `none`, they run in the open. */
export interface SandboxState {
  level: 'full' | 'partial' | 'none'
  /** Names of the layers that don't hold. */
  missing: string[]
}

/** Workers write it while they live; older releases leave out what is optional. */
export interface WorkerRecord {
  id: string
  /** ISO 8601, by Redis' clock; by that of the machine for older releases. */
  startedAt: string
  /** The name of its machine. */
  host?: string
  /** Of its package. */
  version?: string
  /** Jobs that it runs, those that it could run, of these how many in one queue, and the bound over all queues where there is one. */
  places?: { used: number, total: number, perQueue: number, allQueues?: number | null }
  /** The machine's load over the last minute, the processors that the worker may use, and its own memory. */
  load?: { average: number, processors: number, memoryBytes: number }
  /** A code of the system for what it lacks, so that it can start no process, and takes no jobs. */
  shortage?: string | undefined
  /** When it was told to take no jobs, as far as it has heard; empty where it may take some, absent where a release can't be told. */
  heardDrain?: string
  /** Calls that it has run. */
  ran?: number
  /** As in `WORKER_QUEUES`. */
  queues: readonly string[]
  sandbox: SandboxState
  /** Names what the worker has of every tool, which is stored once for all workers that have the same. */
  tools: string
}

/** Present when the tool wrote more than `MAX_OUTPUT_BYTES`: what it wrote, and what was kept, in bytes. */
export interface OutputCut {
  bytes: number
  storedBytes: number
}

/** The end of a job, in one shape for success and failure. */
export type Settlement =
  | { ok: true, output: OutputRecord }
  | { ok: false, error: CallError }
