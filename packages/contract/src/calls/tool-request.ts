import { invalid } from '../terms/errors.ts'
import type { Static } from 'typebox'
import { Type } from '../value/type.ts'
import { Compile } from 'typebox/schema'
import { CallErrorBody, ErrorBody, QueueName, SessionId, sessionText, WaitMs } from './agent-tools.ts'
import { QuestionView } from './question.ts'
import { isAbsent } from '../value/fields.ts'
import { defaultQueue, isQueueName, limits, queueNamePattern } from '../terms/limits.ts'
import { isRecord } from '../value/record.ts'

export const ToolCallQuery = Type.Object({
  wait_ms: Type.Optional(WaitMs),
  queue: Type.Optional(QueueName),
  session: Type.Optional(SessionId),
  dry_run: Type.Optional(Type.String({ pattern: '^(true|false|1|0)$', description: '`true`: only says what would become of the call; nothing runs, and no job is made.' }))
}, { additionalProperties: false })

/** The answer of `POST /v1/tools/:name?dry_run=true` to a call that would not be refused. */
export const ToolDryRun = Type.Object({
  ok: Type.Literal(true),
  dry_run: Type.Literal(true),
  tool: Type.String({ description: 'What would run: another one than asked for where `call_tool` names it.' }),
  would: Type.String({ enum: ['run', 'hold'], description: '`hold`: it would wait until somebody approves it.' }),
  arguments: Type.Unsafe<Record<string, unknown>>({ type: 'object', description: 'As they would be handed over, with defaults.' }),
  hold: Type.Optional(Type.Object({
    reason: Type.Union([Type.String(), Type.Null()]),
    rule: Type.Union([Type.String(), Type.Null()], { description: 'The expression that holds it; null for a tool that always needs an approval.' }),
    approvers: Type.Integer({ description: 'How many keys must approve.' }),
    expires_sec: Type.Number()
  }))
})
export type ToolDryRun = Static<typeof ToolDryRun>

export const ToolPending = Type.Object({
  ok: Type.Literal(true),
  pending: Type.Literal(true),
  job_id: Type.String(),
  held: Type.Optional(Type.Literal(true, { description: 'It waits until somebody approves it.' })),
  question: Type.Optional(QuestionView)
})
export type ToolPending = Static<typeof ToolPending>

/** The answer of `POST /v1/tools/:name` to a call that failed; `job_id` is there where a job was made. */
export const ToolErrorBody = Type.Object({
  ok: Type.Literal(false),
  error: Type.Union([CallErrorBody, ErrorBody.properties.error]),
  job_id: Type.Optional(Type.String()),
  request_id: ErrorBody.properties.request_id
})

const sessionId = Compile(SessionId)

export const jobIdHeader = 'x-toolyard-job-id'
/** The header of an output that is not whole: the bytes that the tool wrote. */
export const outputBytesHeader = 'x-toolyard-output-bytes'

export function isSessionId (value: unknown): value is string {
  return sessionId.Check(value)
}

/**
 * Reads the query of `POST /v1/tools/:name`.
 *
 * @throws HttpError `VALIDATION_ERROR` for anything that isn't as documented.
 */
export function parseToolCallQuery (
  query: Readonly<Record<string, unknown>>
): { waitMs: number, queue: string, session: string | undefined, isDryRun: boolean } {
  const { wait_ms: wait = String(limits.waitMs.default), queue = defaultQueue, session, dry_run: dryRun = 'false' } = query
  const waitMs = typeof wait === 'string' && /^\d{1,6}$/.test(wait) ? Number(wait) : 0
  if (waitMs < limits.waitMs.min || waitMs > limits.waitMs.max) throw invalid(`'wait_ms' must be an integer ${limits.waitMs.min}..${limits.waitMs.max}`)
  if (typeof queue !== 'string' || !isQueueName(queue)) throw invalid(`'queue' must match ${queueNamePattern}`)
  if (session !== undefined && !isSessionId(session)) throw invalid(sessionText)
  if (!['true', 'false', '1', '0'].includes(String(dryRun))) throw invalid("'dry_run' must be true or false")
  return { waitMs, queue, session, isDryRun: dryRun === 'true' || dryRun === '1' }
}

/**
 * The arguments that a body holds; none and null are `{}`.
 *
 * @throws HttpError `VALIDATION_ERROR`
 */
export function toArguments (body: unknown): Record<string, unknown> {
  if (isAbsent(body)) return {}
  if (!isRecord(body)) throw invalid('Request body must be an object: the arguments of the tool')
  return body
}
