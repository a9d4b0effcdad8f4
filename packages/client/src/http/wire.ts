/*
 * The HTTP API, as far as this client knows it. It stands here so that the package needs no other
 * one; test/client/types.test.ts holds that it agrees with the contract.
 */

/** Codes of errors that end a request (docs/errors.md). */
export type HttpErrorCode =
  | 'VALIDATION_ERROR' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'IDEMPOTENCY_CONFLICT' | 'PAYLOAD_TOO_LARGE'
  | 'PRECONDITION_FAILED' | 'QUOTA_EXCEEDED' | 'RANGE_NOT_SATISFIABLE' | 'STORAGE_FULL'
  | 'UNSUPPORTED_MEDIA_TYPE' | 'RATE_LIMITED' | 'INTERNAL' | 'UNAVAILABLE' | 'AUTH_NOT_CONFIGURED'

/** Codes of errors in a call's answer. */
export type CallErrorCode =
  | 'UNKNOWN_TOOL' | 'JOB_TYPE_DISABLED' | 'INVALID_ARGUMENTS' | 'FORBIDDEN' | 'TIMEOUT' | 'TOOL_FAILED' | 'TOOL_TIMEOUT'
  | 'TOOL_UNAVAILABLE' | 'NOT_ALLOWED' | 'OUTPUT_INVALID' | 'JOB_CANCELLED' | 'WORKER_LOST' | 'DEPENDENCY_BLOCKED'
  | 'QUOTA_EXCEEDED' | 'SESSION_GONE'
  | 'SANDBOX_FAILED' | 'QUEUE_FULL' | 'INTERNAL' | 'POLICY_DENIED' | 'HELD' | 'APPROVAL_DENIED' | 'APPROVAL_EXPIRED'
  | 'INPUT_REQUIRED' | 'INPUT_EXPIRED' | 'QUESTION_INVALID' | 'SECRET_MISSING'

/** An error of one call. */
export interface CallErrorBody { code: string, message: string, details?: unknown }

/** A file of the session that a call made, changed or returned. */
export interface ResultFile { path: string, size: number, type: string, sha256?: string }

/** One call's answer. */
export interface CallResult {
  call_id: string
  name: string
  ok: boolean
  output?: unknown
  pending?: true
  /** Leads to the log and the whole output; absent where no job was made. */
  job_id?: string
  job_type?: string
  /** The files of the session that were made or changed while the call ran. */
  files?: ResultFile[]
  /** More were changed than are named. */
  more_files?: true
  error?: CallErrorBody
}

/**
 * Where a job is in its life; the last three are final, `held` waits until somebody approves it, and `input_required` until somebody
 * answers what its tool asks.
 */
export type JobState = 'queued' | 'held' | 'running' | 'input_required' | 'succeeded' | 'failed' | 'cancelled'

/** How far a job is, as its tool tells. */
export interface Progress { done: number, total: number | null, text: string | null }

/** A job in a list. Times are ISO 8601 in UTC. */
export interface JobSummary {
  id: string
  type: string
  tool: string
  queue: string
  status: JobState
  priority: number
  timeout_sec: number
  attempts: number
  max_attempts: number
  callback_url: string | null
  tags: string[]
  /** The workflow that this job is a step of. */
  parent_id?: string
  tenant?: string
  /** The name of the API key that submitted it. */
  key: string | null
  /** The id of the worker that ran it last. */
  worker: string | null
  progress?: Progress
  /** How the arguments begin, as JSON; in lists that are asked for with `preview`. */
  input_preview?: string
  error: CallErrorBody & { at: string } | null
  created_at: string
  /** When a job with `delay_ms` is due; absent from then on. */
  due_at?: string
  updated_at: string
  /** When its last run began. */
  started_at: string | null
  finished_at: string | null
  /** From when it was due until its run began; null for a job that was run more than once. */
  waited_ms: number | null
  ran_ms: number | null
}

export interface ApprovalView {
  state: 'held' | 'approved' | 'denied' | 'expired'
  /** Names what will run: a decision must come with it. */
  digest: string
  reason: string | null
  /** The expression of the rule; null for a tool that always needs an approval. */
  rule: string | null
  /** How many keys must approve. */
  approvers: number
  /** The only keys that may decide. */
  by: string[] | null
  self: boolean
  held_at: string
  expires_at: string
  /** Why it is held again. */
  changed: string | null
  /** `revoked`: it doesn't count, since its key was revoked. */
  decisions: Array<{ key: string, decision: 'approve' | 'deny', reason: string | null, at: string, revoked?: true }>
}

/** One of the questions that a tool asks at once. */
export interface AskedQuestion {
  /** The first question of a job is 1. */
  number: number
  /** Its tool's name for it. */
  name: string
  /** Who can answer: a person, a model, or the client, which knows its directories. */
  kind: 'form' | 'sampling' | 'roots'
  text: string
  /** Of `sampling`: the messages for the model, as `sampling/createMessage` of MCP has them. */
  params?: unknown
  /** JSON Schema of the answer. */
  schema: unknown
  /** Answers of the client of an MCP task that didn't fit, and why the last one didn't. */
  refused?: { count: number, reason: string }
}

export interface QuestionView extends AskedQuestion {
  asked_at: string
  expires_at: string
  /** Questions of the same round without an answer yet. */
  more?: AskedQuestion[]
}

export interface JobView extends JobSummary {
  /** Ids of the jobs that must succeed before this one runs. */
  depends_on?: string[]
  /** There for a job that needs an approval, or needed one. */
  approval?: ApprovalView
  /** There while its tool waits for an answer. */
  question?: QuestionView
  /** The caller's name for its conversation. */
  conversation?: string
  /** The session whose files are its workspace. */
  session?: string
  /** The id of the request that made it: jobs of one batch have the same. */
  request?: string
  input: unknown
  /** Whole, never cut for a model. */
  result: unknown
  /** The tool wrote more than is kept. */
  result_truncated?: { bytes: number, stored_bytes: number }
  files?: ResultFile[]
  more_files?: true
  /** How well its processes were shut in; null for a job that ran none, or has not ended. */
  sandbox: { level: 'full' | 'partial' | 'none', missing: string[] } | null
}

/** A page of jobs; `next_cursor` is null on the last one. */
export interface JobList { ok: true, jobs: JobSummary[], count: number, next_cursor: string | null }

/** One line of a job's log; `id` grows from line to line. */
export interface LogEntry {
  id: string
  ts: string
  level: 'debug' | 'info' | 'warn' | 'error'
  message: string
  meta: Record<string, unknown> | null
}

/** A job to submit: the type of its tool, its input, and how it shall run. Null means the default. */
export interface NewJob {
  type: string
  input?: Record<string, unknown> | null
  queue?: string | null
  /** The session whose files are its workspace. */
  session?: string | null
  /** The caller's name for its conversation: who approves a call sees it. */
  conversation?: string | null
  /** 0 to 10, higher first. */
  priority?: number | null
  timeout_sec?: number | null
  max_attempts?: number | null
  tags?: string[] | null
  delay_ms?: number | null
  callback_url?: string | null
  depends_on?: string[] | null
}

/** A session to make: null and absent mean the default. */
export interface NewSession {
  /** Seconds without a call until it is removed. */
  ttl_sec?: number | null
  quota_bytes?: number | null
  /** The template that its files begin as. */
  from?: string | null
}

export interface SessionView {
  id: string
  tenant: string | null
  key: string
  state: 'open' | 'removing'
  from: string | null
  ttl_sec: number
  quota_bytes: number
  used_bytes: number | null
  created_at: string
  last_used_at: string
  expires_at: string
}

/** A page of sessions, newest first; `next_cursor` is null on the last one. */
export interface SessionList { ok: true, sessions: SessionView[], count: number, next_cursor: string | null }

/** A stored secret: never its value. Times are ISO 8601 in UTC. */
export interface SecretView {
  name: string
  scope: 'operator' | 'tenant' | 'key'
  tenant: string | null
  /** The name of the API key whose it is. */
  key: string | null
  stored_at: string
  last_used_at: string | null
}

/** The secrets that a key may see, by name. */
export interface SecretList { ok: true, secrets: SecretView[], count: number }

/** A file that was put. */
export interface PutFile { path: string, size: number, type: string, sha256: string, etag: string }

export interface Unpacked { path: string, files: number, directories: number, bytes: number }

/** Entries by name; `next_cursor` is null on the last page. */
export interface FileList {
  ok: true
  path: string
  entries: Array<{ name: string, path: string, type: 'file' | 'directory' | 'link' | 'other', size: number, modified_at: string }>
  count: number
  next_cursor: string | null
}
