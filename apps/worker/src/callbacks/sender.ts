import { asError, callbackHeaders, errorCode, writeJson } from '@toolyard/contract/terms'
import type { CallbackAttempt, CallbackOutcome } from '@toolyard/queue'
import { createCallbackCheck, type CallbackPolicy } from '@toolyard/runtime'
import { openConnections } from '@toolyard/runtime/connections'
import { AddressRefusedError, startTimeLimit, type Lookup } from '@toolyard/runtime/outgoing'
import { createHmac } from 'node:crypto'

export interface CallbackSenderOptions {
  policy: CallbackPolicy
  secret: string
  /** Time for one attempt, in milliseconds; 10 s when absent. */
  timeoutMs?: number
  lookup?: Lookup
}

/** So much of an answer is read, in bytes: nobody looks at it. */
const drainedBytes = 16_384

/**
 * Makes the function that sends one callback. Any answer of 200 to 299 is a success; redirects aren't followed. The
 * addresses of the host are checked at the very connect, whatever was checked when the job was submitted.
 */
export function createCallbackSender (options: CallbackSenderOptions): (attempt: CallbackAttempt) => Promise<CallbackOutcome> {
  const refusalOf = createCallbackCheck(options.policy)
  return async attempt => {
    const refusal = refusalOf(attempt.url)
    return refusal === undefined ? await post(attempt, options) : { kind: 'refused', reason: refusal }
  }
}

async function post (
  { url, deliveryId, body, sentAt, signal }: CallbackAttempt, { policy, secret, timeoutMs = 10_000, lookup }: CallbackSenderOptions
): Promise<CallbackOutcome> {
  const connections = openConnections({ allowPrivate: policy.allowPrivate, ...(lookup === undefined ? {} : { lookup }) })
  const limit = startTimeLimit(timeoutMs, signal)
  const text = writeJson(body)
  const timestamp = String(Math.floor(sentAt / 1_000))
  try {
    const response = await connections.dispatcher.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Toolyard/0.1 (callback)',
        [callbackHeaders.timestamp]: timestamp,
        [callbackHeaders.signature]: signCallback(secret, timestamp, text),
        [callbackHeaders.delivery]: deliveryId
      },
      body: text,
      signal: limit.signal
    })
    const { statusCode: status } = response
    await response.body.dump({ limit: drainedBytes }).catch(() => {})
    return status >= 200 && status < 300 ? { kind: 'delivered', status } : { kind: 'failed', reason: `status ${status}` }
  } catch (error) {
    return failure(error, limit.passed ? `no answer within ${timeoutMs} ms` : undefined)
  } finally {
    limit.clear()
    await connections.close()
  }
}

/** Says what happened without repeating addresses and paths. */
function failure (error: unknown, timedOut: string | undefined): CallbackOutcome {
  const { cause, name } = asError(error)
  const refusal = [error, cause].find(each => each instanceof AddressRefusedError)
  if (refusal !== undefined) return { kind: 'refused', reason: refusal.message }
  return { kind: 'failed', reason: timedOut ?? errorCode(error) ?? name }
}

/**
 * The signature of a callback: `v1=` and the hex HMAC-SHA256 over `<timestamp>.<body>`.
 *
 * @param timestamp seconds since 1970, in decimal digits.
 */
function signCallback (secret: string, timestamp: string, body: string): string {
  return `v1=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`
}
