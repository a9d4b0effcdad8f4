import type { Static } from 'typebox'
import { Type } from '../value/type.ts'
import { Compile } from 'typebox/schema'
import { CallArguments, Conversation, conversationText, QueueName, SessionId, sessionText } from '../calls/agent-tools.ts'
import { CallbackUrl, callbackUrlText } from '../calls/callback-url.ts'
import { invalid, checkObject, type HttpError } from '../terms/errors.ts'
import { isAbsent, unknownField } from '../value/fields.ts'
import { defaultQueue, limits, queueNamePattern } from '../terms/limits.ts'

const JobType = Type.String({ minLength: 1, pattern: '\\S', description: 'The name of a tool, or a job type from GET /v1/job-types.' })
const Priority = Type.Integer({ minimum: limits.priority.min, maximum: limits.priority.max, default: limits.priority.default })
const TimeoutSec = Type.Integer({ minimum: limits.jobTimeoutSec.min, maximum: limits.jobTimeoutSec.max })
const MaxAttempts = Type.Integer({ minimum: limits.attempts.min, maximum: limits.attempts.max })
const Tags = Type.Array(Type.String({ minLength: 1, maxLength: limits.tags.length }), { description: `Those beyond ${limits.tags.max} are dropped.` })
const DelayMs = Type.Integer({ minimum: limits.delayMs.min, maximum: limits.delayMs.max, default: 0 })

const DependsOn = Type.Array(Type.String({ minLength: 1, maxLength: 120 }), {
  maxItems: limits.dependencies, description: 'Ids of jobs that must succeed before this one runs; also as input.depends_on, where the tool has no such parameter.'
})

/** `POST /v1/jobs`, as it arrives. Null means the default. */
export const SubmitJobRequest = Type.Object({
  type: JobType,
  input: Type.Optional(CallArguments),
  queue: Type.Optional(Type.Union([QueueName, Type.Null()])),
  session: Type.Optional(Type.Union([SessionId, Type.Null()])),
  conversation: Type.Optional(Type.Union([Conversation, Type.Null()])),
  priority: Type.Optional(Type.Union([Priority, Type.Null()])),
  timeout_sec: Type.Optional(Type.Union([TimeoutSec, Type.Null()])),
  max_attempts: Type.Optional(Type.Union([MaxAttempts, Type.Null()])),
  tags: Type.Optional(Type.Union([Tags, Type.Null()])),
  delay_ms: Type.Optional(Type.Union([DelayMs, Type.Null()])),
  callback_url: Type.Optional(Type.Union([CallbackUrl, Type.Null()])),
  depends_on: Type.Optional(Type.Union([DependsOn, Type.Null()]))
}, { additionalProperties: false })
export type SubmitJobRequest = Static<typeof SubmitJobRequest>

export interface JobRequest {
  type: string
  input: Record<string, unknown>
  queue: string
  /** The session whose files are its workspace. */
  session: string | undefined
  conversation?: string | undefined
  priority: number
  /** Absent: what the tool or its job type say. */
  timeoutSec: number | undefined
  /** Absent: what the job type says. */
  maxAttempts: number | undefined
  tags: string[]
  delayMs: number
  callbackUrl: string | undefined
  /** Ids as they were sent; `input.depends_on` isn't among them. */
  dependsOn: string[]
}

const whole = Compile(SubmitJobRequest)
const dependsOn = Compile(DependsOn)
const type = Compile(JobType)
/** The optional fields in the order in which they are checked, and what is said of a bad one. */
const fields = [
  ['priority', Compile(Priority), `'priority' must be integer ${limits.priority.min}..${limits.priority.max}`],
  ['timeout_sec', Compile(TimeoutSec), `'timeout_sec' must be integer ${limits.jobTimeoutSec.min}..${limits.jobTimeoutSec.max}`],
  ['max_attempts', Compile(MaxAttempts), `'max_attempts' must be integer ${limits.attempts.min}..${limits.attempts.max}`],
  ['queue', Compile(QueueName), `'queue' must match ${queueNamePattern}`],
  ['session', Compile(SessionId), sessionText],
  ['conversation', Compile(Conversation), conversationText],
  ['input', Compile(CallArguments), "'input' must be an object or null"],
  ['tags', Compile(Tags), `'tags' must be an array of strings of 1 to ${limits.tags.length} characters`],
  ['delay_ms', Compile(DelayMs), `'delay_ms' must be integer ${limits.delayMs.min}..${limits.delayMs.max}`],
  ['callback_url', Compile(CallbackUrl), callbackUrlText],
  ['depends_on', Compile(DependsOn), dependsOnText('depends_on')]
] as const

export function checkJobRequest (body: unknown): HttpError | undefined {
  return checkObject(body, firstError)
}

function firstError (body: Record<string, unknown>): string | undefined {
  if (!type.Check(body['type'])) return "Missing/invalid 'type'"
  for (const [name, check, text] of fields) {
    const value = body[name]
    if (!isAbsent(value) && (!check.Check(value) || (name === 'input' && Array.isArray(value)))) return text
  }
  return unknownField(body, SubmitJobRequest) ?? (whole.Check(body) ? undefined : 'Request body does not fit the schema of a job')
}

/**
 * Reads `input.depends_on`; null means none.
 *
 * @throws HttpError `VALIDATION_ERROR`
 */
export function readDependsOn (value: unknown): string[] {
  if (isAbsent(value)) return []
  if (!Array.isArray(value)) throw invalid("'input.depends_on' must be an array")
  if (!dependsOn.Check(value)) throw invalid(dependsOnText('input.depends_on'))
  return value
}

export function toJobRequest (body: SubmitJobRequest): JobRequest {
  return {
    type: body.type,
    input: body.input ?? {},
    queue: body.queue ?? defaultQueue,
    session: body.session ?? undefined,
    conversation: body.conversation ?? undefined,
    priority: body.priority ?? limits.priority.default,
    timeoutSec: body.timeout_sec ?? undefined,
    maxAttempts: body.max_attempts ?? undefined,
    tags: (body.tags ?? []).slice(0, limits.tags.max),
    delayMs: body.delay_ms ?? 0,
    callbackUrl: body.callback_url ?? undefined,
    dependsOn: body.depends_on ?? []
  }
}

function dependsOnText (name: string): string {
  return `'${name}' must be an array of at most ${limits.dependencies} job ids`
}
