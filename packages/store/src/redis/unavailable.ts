import { asError, errorCode } from '@toolyard/contract/terms'

/** Redis can't be reached, or didn't answer in time. Nothing is known of what the command did. */
export class RedisUnavailableError extends Error {
  override readonly name: string = 'RedisUnavailableError'

  constructor (cause?: unknown) {
    const answer = cause instanceof Error ? refusal.exec(cause.message)?.[1] : undefined
    super(answer === undefined ? 'Redis is not available' : `Redis is not available: it answers ${answer}`, { cause })
  }
}

/** What Redis answers that takes nothing for now, or not here. In front of a script's error, Redis 6.2 puts where it happened. */
const refusal = /(?:^|: -)(LOADING|MASTERDOWN|CLUSTERDOWN|READONLY|NOREPLICAS|MISCONF|TRYAGAIN|BUSY|ASK|MOVED)\b/

/** Redis has no memory left and takes nothing more in. */
export class RedisFullError extends RedisUnavailableError {
  override readonly message = 'Redis is full: it has reached its maxmemory'
}

/** The user of the service may not do this in Redis, or not all of it: an operator changed its rights, or took a command away. */
class RedisDeniedError extends RedisUnavailableError {
  constructor (cause: Error) {
    super(cause)
    const refuses = unknownCommand.test(cause.message) ? 'knows no command of this name (rename-command)' : 'refuses this to the user of the service (NOPERM)'
    this.message = `Redis ${refuses}: docs/redis.md has the rights that it needs`
  }
}

/** Redis was sent jobs, or a change of many, and didn't say that it has them, on as many servers as it must: they may exist, and run. */
export class JobsUnknownError extends RedisUnavailableError {
  override readonly name = 'JobsUnknownError'

  constructor (cause: unknown, remedy = 'What was sent may exist and run: repeat the request with the same Idempotency-Key to find it') {
    super(cause)
    this.message = `${cause instanceof Error ? cause.message : 'Redis is not available'}. ${remedy}`
  }
}

/** How long a request waits for Redis, in milliseconds: below the 2 s within which an API answers 503. */
const patienceMs = 1_500

/**
 * Waits for a Redis operation, at most 1.5 s.
 *
 * @throws RedisUnavailableError when the connection is down or the time is over, RedisFullError when there is no memory
 *   left, RedisDeniedError when the user may not do it; another error that Redis itself answered (wrong type) is passed on.
 */
export async function whileAvailable<T> (operation: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => { reject(new RedisUnavailableError(new Error(`no answer within ${patienceMs} ms`))) }, patienceMs)
  })
  try {
    return await Promise.race([operation, timeout])
  } catch (error) {
    throw asRedisError(error)
  } finally {
    clearTimeout(timer)
  }
}

/** The error of a command as what it means: `RedisFullError`, `RedisDeniedError`, `RedisUnavailableError`, or itself. */
export function asRedisError (error: unknown): Error {
  if (isDenied(error)) return new RedisDeniedError(error)
  if (error instanceof Error && isFull(error)) return new RedisFullError(error)
  return isConnectionError(error) ? new RedisUnavailableError(error) : asError(error)
}

const connectionMessages = new RegExp([
  "Connection is closed|Stream isn't writeable|Command timed out|Reached the max retries|Connection is in subscriber",
  "Cluster isn't ready|Failed to refresh slots cache|Too many Cluster redirections",
  // A script that runs while its slot moves to another server.
  'attempted to access a non local key'
].join('|'))

/** Whether the same command may be accepted later: Redis is away, full, takes no writes for now, or lets the user do too little. */
export function mayRedisTakeItLater (error: unknown): boolean {
  return error instanceof RedisUnavailableError || isFull(error) || isDenied(error) || isConnectionError(error)
}

/** A command, or one in a script, that `rename-command` took away; Valkey leaves Redis' name out. */
const unknownCommand = /(?:^|: -)ERR unknown command|Unknown (?:Redis )?command called from script/

/** A command, or one in a script, as Redis 6.2 and newer ones say it. */
export function isDenied (error: unknown): error is Error {
  if (!(error instanceof Error)) return false
  return /(?:^|: -)NOPERM\b|The user executing the script can't|ACL failure in script/.test(error.message) || unknownCommand.test(error.message)
}

function isFull (error: unknown): boolean {
  return error instanceof Error && /(?:^|: -)OOM\b/.test(error.message)
}

/** Errors of a socket. Those of files have the same form, and say nothing of Redis. */
const socketCodes = new Set([
  'ECONNRESET', 'ECONNABORTED', 'ECONNREFUSED', 'EPIPE', 'ENOTCONN', 'ETIMEDOUT', 'EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN'
])

function isSocketError (error: Error): boolean {
  const syscall = 'syscall' in error ? error.syscall : undefined
  return syscall === 'connect' || syscall === 'getaddrinfo' || (syscall !== undefined && socketCodes.has(errorCode(error) ?? ''))
}

function isConnectionError (error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof RedisUnavailableError) return false
  return isSocketError(error) || error.name === 'AbortError' || connectionMessages.test(error.message) || refusal.test(error.message)
}
