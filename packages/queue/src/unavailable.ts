/** Redis can't be reached, or didn't answer in time. Nothing is known of what the command did. */
export class RedisUnavailableError extends Error {
  override readonly name = 'RedisUnavailableError'

  constructor (cause?: unknown) {
    super('Redis is not available', { cause })
  }
}

/** How long a request waits for Redis, in milliseconds: below the 2 s within which an API answers 503. */
const patienceMs = 1_500

/**
 * Waits for a Redis operation, at most 1.5 s.
 *
 * @throws RedisUnavailableError when the connection is down or the time is over; an error that Redis itself
 *   answered (out of memory, wrong type) is passed on.
 */
export async function whileAvailable<T> (operation: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => { reject(new RedisUnavailableError(new Error(`no answer within ${patienceMs} ms`))) }, patienceMs)
  })
  try {
    return await Promise.race([operation, timeout])
  } catch (error) {
    throw isConnectionError(error) ? new RedisUnavailableError(error) : error
  } finally {
    clearTimeout(timer)
  }
}

const connectionMessages = /Connection is closed|Stream isn't writeable|Command timed out|Reached the max retries|Connection is in subscriber|^(?:LOADING|MASTERDOWN|CLUSTERDOWN|READONLY)\b/

function isConnectionError (error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof RedisUnavailableError) return false
  return 'syscall' in error || error.name === 'AbortError' || connectionMessages.test(error.message)
}
