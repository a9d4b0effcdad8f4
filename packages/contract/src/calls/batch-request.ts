import { Compile } from 'typebox/schema'
import {
  BatchCall, CallArguments, CallId, CallName, Conversation, conversationText, InvokeBatchQuery, InvokeBatchRequest, MaxOutputChars, Mode,
  OnDisconnect, QueueName, SessionId, sessionText, WaitMs, type Batch
} from './agent-tools.ts'
import { CallbackUrl, callbackUrlText } from './callback-url.ts'
import { invalid, checkObject, type HttpError } from '../terms/errors.ts'
import { isAbsent, unknownField } from '../value/fields.ts'
import { findCalls, isWholeMessage, messageFields } from './message-calls.ts'
import { messageFormats, type MessageCall } from './message-items.ts'
import { isRecord } from '../value/record.ts'
import { defaultQueue, limits, queueNamePattern } from '../terms/limits.ts'

const check = {
  query: Compile(InvokeBatchQuery),
  request: Compile(InvokeBatchRequest),
  callId: Compile(CallId),
  name: Compile(CallName),
  arguments: Compile(CallArguments),
  mode: Compile(Mode),
  waitMs: Compile(WaitMs),
  queue: Compile(QueueName),
  session: Compile(SessionId),
  conversation: Compile(Conversation),
  onDisconnect: Compile(OnDisconnect),
  maxOutputChars: Compile(MaxOutputChars),
  callbackUrl: Compile(CallbackUrl)
}

/**
 * Checks the body of `invoke-batch`.
 *
 * The body is checked as a whole; only when that fails are its parts gone through in the documented order, so that
 * the first error can be named: calls, each call, mode, wait_ms, queue, then the others, then fields that nobody knows.
 *
 * @returns undefined for a good body, else `VALIDATION_ERROR` with the documented text.
 */
export function checkBatchRequest (body: unknown): HttpError | undefined {
  return checkObject(body, object => check.request.Check(object) ? formError(object) ?? otherField(object) : firstError(object))
}

/** The calls of a provider's message in a checked body; undefined where the body has `calls`. */
export function messageOf (body: InvokeBatchRequest): MessageCall[] | undefined {
  return hasMessage(body) ? findCalls(body).calls : undefined
}

export function checkBatchQuery (query: unknown): HttpError | undefined {
  const { details, max_output_chars: chars } = isRecord(query) ? query : {}
  if (chars !== undefined && queryChars(chars) === undefined) return invalid(maxOutputCharsText)
  if (check.query.Check(query)) return undefined
  return invalid(details === undefined || details === 'log' ? `'format' must be one of ${messageFormats.join(', ')}` : "'details' must be log")
}

export const maxOutputCharsText = `'max_output_chars' must be an integer ${limits.maxOutputChars.min}..${limits.maxOutputChars.max}`

/** The bound of outputs that a query asks for; undefined where it is none. */
export function queryChars (text: unknown): number | undefined {
  const chars = typeof text === 'string' && /^\d{1,6}$/.test(text) ? Number(text) : undefined
  return check.maxOutputChars.Check(chars) ? chars : undefined
}

export function toBatch (body: InvokeBatchRequest): Batch {
  return {
    calls: (body.calls ?? []).map(call => ({ call_id: call.call_id, name: call.name, arguments: call.arguments ?? {} })),
    mode: body.mode ?? 'sync',
    waitMs: body.wait_ms ?? limits.waitMs.default,
    queue: body.queue ?? defaultQueue,
    session: body.session ?? undefined,
    conversation: body.conversation ?? undefined,
    onDisconnect: body.on_disconnect ?? 'leave',
    callbackUrl: body.callback_url ?? undefined,
    maxOutputChars: body.max_output_chars ?? undefined
  }
}

function firstError (body: Record<string, unknown>): string {
  return formError(body) ?? callsErrorOf(body) ??
    (isAbsent(body['mode']) || check.mode.Check(body['mode']) ? undefined : "'mode' must be 'sync' or 'async'") ??
    (isAbsent(body['wait_ms']) || check.waitMs.Check(body['wait_ms']) ? undefined : `'wait_ms' must be an integer ${limits.waitMs.min}..${limits.waitMs.max}`) ??
    (isAbsent(body['queue']) || check.queue.Check(body['queue']) ? undefined : `'queue' must match ${queueNamePattern}`) ??
    (isAbsent(body['session']) || check.session.Check(body['session']) ? undefined : sessionText) ??
    (isAbsent(body['conversation']) || check.conversation.Check(body['conversation']) ? undefined : conversationText) ??
    (isAbsent(body['on_disconnect']) || check.onDisconnect.Check(body['on_disconnect']) ? undefined : "'on_disconnect' must be 'leave' or 'cancel'") ??
    (isAbsent(body['max_output_chars']) || check.maxOutputChars.Check(body['max_output_chars']) ? undefined : maxOutputCharsText) ??
    (isAbsent(body['callback_url']) || check.callbackUrl.Check(body['callback_url']) ? undefined : callbackUrlText) ??
    otherField(body) ??
    'Request body does not fit the schema of invoke-batch'
}

/** Fields of which a body may have one. A message may have a text beside its calls. */
const forms = ['calls', 'tool_calls', 'output', 'content'] as const

/** Undefined for exactly one form, with messages that can be answered. */
function formError (body: Record<string, unknown>): string | undefined {
  const sent = forms.filter(field => !isAbsent(body[field]))
  const isOne = sent.length < 2 || (!sent.includes('calls') && !sent.includes('output'))
  if (!isOne) return `${sent.map(quoted).join(' and ')} can't come together: send one of ${forms.map(quoted).join(', ')}`
  return hasMessage(body) ? messageError(body) : callsAbsent(body)
}

function quoted (field: string): string {
  return `'${field}'`
}

/** A provider's message without calls may have null in the field for them. */
function hasMessage (body: Record<string, unknown>): boolean {
  return isAbsent(body['calls']) && messageFields.some(field => Object.hasOwn(body, field))
}

function callsAbsent (body: Record<string, unknown>): string | undefined {
  if (!isAbsent(body['calls'])) return undefined
  return (hasMessage(body) ? undefined : otherField(body)) ?? "'calls' must be an array"
}

/** The first field that isn't known; a message that is sent as a whole has many that are for others. */
function otherField (body: Record<string, unknown>): string | undefined {
  if (hasMessage(body) && isWholeMessage(body)) return undefined
  const unknown = Object.keys(body).find(field => !Object.hasOwn(InvokeBatchRequest.properties, field))
  return unknown === undefined ? undefined : unknownField({ [unknown]: true }, { properties: namedFields })
}

/** Those that are named where an unknown one came. */
const namedFields = Object.fromEntries(
  [...forms, 'mode', 'wait_ms', 'queue', 'session', 'conversation', 'on_disconnect', 'max_output_chars', 'callback_url'].map(field => [field, true])
)

function callsErrorOf (body: Record<string, unknown>): string | undefined {
  return hasMessage(body) ? undefined : callsError(body['calls'])
}

function messageError (body: Record<string, unknown>): string | undefined {
  const { calls, problem } = findCalls(body)
  if (problem !== undefined) return problem
  const [first] = calls
  if (first === undefined) return undefined
  if (calls.length > limits.calls.max) return `'${first.at.replace(/\[\d+\]$/, '')}' must have at most ${limits.calls.max} calls`
  const other = calls.find(({ format }) => format !== first.format)
  if (other !== undefined) return `${other.at} has another shape than ${first.at}: calls of two APIs can't be answered in one message`
  for (const { at, idField, id } of calls) {
    // Its answer would have another number.
    if (!isAbsent(id) && typeof id !== 'string' && !Number.isSafeInteger(id)) return `${at}.${idField} must be a text`
    if (String(id).length > limits.messageCallIdLength) return `${at}.${idField} must be at most ${limits.messageCallIdLength} characters`
  }
  return undefined
}

function callsError (calls: unknown): string | undefined {
  if (!Array.isArray(calls)) return "'calls' must be an array"
  if (calls.length < limits.calls.min) return `'calls' must have at least ${limits.calls.min} item`
  if (calls.length > limits.calls.max) return `'calls' must have at most ${limits.calls.max} items`
  for (const [index, call] of calls.entries()) {
    const error = callError(call, `calls[${index}]`)
    if (error !== undefined) return error
  }
  return undefined
}

function callError (call: unknown, at: string): string | undefined {
  if (!isRecord(call)) return `${at} must be an object`
  const id = call['call_id']
  if (typeof id !== 'string' || id.trim() === '') return `${at}.call_id is required`
  if (!check.callId.Check(id)) return `${at}.call_id must be at most ${limits.callIdLength} characters`
  if (!check.name.Check(call['name'])) return `${at}.name is required`
  if (call['arguments'] !== undefined && !isArguments(call['arguments'])) return `${at}.arguments must be an object or null`
  return unknownField(call, BatchCall, `${at}.`)
}

function isArguments (value: unknown): boolean {
  return !Array.isArray(value) && check.arguments.Check(value)
}
