import { Compile } from 'typebox/schema'
import {
  BatchCall, CallArguments, CallId, CallName, InvokeBatchRequest, Mode, OnDisconnect, QueueName, WaitMs, type Batch
} from './agent-tools.ts'
import { CallbackUrl, callbackUrlText } from './callback-url.ts'
import { HttpError } from './errors.ts'
import { isAbsent, unknownField } from './fields.ts'
import { isRecord } from './record.ts'
import { defaultQueue, limits, queueNamePattern } from './limits.ts'

const check = {
  request: Compile(InvokeBatchRequest),
  callId: Compile(CallId),
  name: Compile(CallName),
  arguments: Compile(CallArguments),
  mode: Compile(Mode),
  waitMs: Compile(WaitMs),
  queue: Compile(QueueName),
  onDisconnect: Compile(OnDisconnect),
  callbackUrl: Compile(CallbackUrl)
}

/**
 * Checks the body of `invoke-batch` (R14 to R20, X2).
 *
 * The body is checked as a whole; only when that fails are its parts gone through in the documented order, so that
 * the first error can be named: calls, each call, mode, wait_ms, queue (RC8), then the others, then fields that nobody knows.
 *
 * @returns undefined for a good body, else `VALIDATION_ERROR` with the documented text.
 */
export function checkBatchRequest (body: unknown): HttpError | undefined {
  return check.request.Check(body) ? undefined : new HttpError('VALIDATION_ERROR', firstError(body))
}

/** Fills in the defaults of a checked body (R17 to R20, X1). */
export function toBatch (body: InvokeBatchRequest): Batch {
  return {
    calls: body.calls.map(call => ({ call_id: call.call_id, name: call.name, arguments: call.arguments ?? {} })),
    mode: body.mode ?? 'sync',
    waitMs: body.wait_ms ?? limits.waitMs.default,
    queue: body.queue ?? defaultQueue,
    onDisconnect: body.on_disconnect ?? 'leave',
    callbackUrl: body.callback_url ?? undefined
  }
}

function firstError (body: unknown): string {
  if (!isRecord(body)) return 'Request body must be an object'
  return callsError(body['calls']) ??
    (isAbsent(body['mode']) || check.mode.Check(body['mode']) ? undefined : "'mode' must be 'sync' or 'async'") ??
    (isAbsent(body['wait_ms']) || check.waitMs.Check(body['wait_ms']) ? undefined : `'wait_ms' must be an integer ${limits.waitMs.min}..${limits.waitMs.max}`) ??
    (isAbsent(body['queue']) || check.queue.Check(body['queue']) ? undefined : `'queue' must match ${queueNamePattern}`) ??
    (isAbsent(body['on_disconnect']) || check.onDisconnect.Check(body['on_disconnect']) ? undefined : "'on_disconnect' must be 'leave' or 'cancel'") ??
    (isAbsent(body['callback_url']) || check.callbackUrl.Check(body['callback_url']) ? undefined : callbackUrlText) ??
    unknownField(body, InvokeBatchRequest) ??
    'Request body does not fit the schema of invoke-batch'
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
