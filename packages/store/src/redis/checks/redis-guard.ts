import { within } from '@toolyard/runtime'
import { writableServers, type Redis } from '../connection.ts'
import { asRedisError } from '../unavailable.ts'
import { checkRedis, type RedisReport } from './redis-check.ts'

/** Redis is set up so that jobs would be lost; the message is for the operator. */
class UnsafeRedisError extends Error {
  override readonly name = 'UnsafeRedisError'

  constructor (unsafe: readonly string[]) {
    super(`Toolyard refuses to work on this Redis:\n${unsafe.map(problem => `  ${problem}`).join('\n')}\nALLOW_UNSAFE_REDIS=1 goes on all the same.`)
  }
}

interface RedisGuardOptions {
  /** `ALLOW_UNSAFE_REDIS`: what is unsafe is only reported. */
  allowUnsafe: boolean
  /** Gets what was found, when it differs from what was found last. */
  onReport: (report: RedisReport) => void
}

/** How long Redis may take to answer, in milliseconds. */
const pingMs = 1_000
const silent = 'Redis does not answer'
/** Whoever asks for `/ready` has the settings checked again after so long, in milliseconds. */
const againMs = 10_000

/**
 * Checks the settings of Redis whenever the connection stands again: it may be another one by then. They may be changed meanwhile, too:
 * `readiness` looks.
 */
export class RedisGuard {
  readonly #redis: Redis
  readonly #options: RedisGuardOptions
  #report: RedisReport | undefined
  /** By `performance.now()`. */
  #checkedAt = 0

  constructor (redis: Redis, options: RedisGuardOptions) {
    this.#redis = redis
    this.#options = options
    // One that goes away again right now is checked when it is back.
    redis.on('ready', () => { this.#check().catch(() => {}) })
  }

  /**
   * Checks now; to be called once the connection stands.
   *
   * @throws UnsafeRedisError; RedisUnavailableError.
   */
  async admit (): Promise<void> {
    const { unsafe } = await this.#check()
    if (unsafe.length > 0 && !this.#options.allowUnsafe) throw new UnsafeRedisError(unsafe)
  }

  /** For `/ready`: Redis answers, all masters of a cluster do, and none was found unsafe. */
  async readiness (): Promise<{ ok: boolean, detail?: string }> {
    const problem = await this.#problem()
    if (problem !== undefined) return { ok: false, detail: problem }
    if (performance.now() - this.#checkedAt > againMs) await this.#check().catch(() => {})
    const { version, unsafe, doubtful } = this.#report ?? { version: 'unknown', unsafe: [], doubtful: [] }
    return { ok: unsafe.length === 0 || this.#options.allowUnsafe, detail: [`version ${version}`, ...unsafe, ...doubtful].join('; ') }
  }

  /** Redis refuses a ping as well while it can't save, or loads its data. */
  async #problem (): Promise<string | undefined> {
    const servers = writableServers(this.#redis)
    if (servers.length === 0) return silent
    const pings = Promise.all(servers.map(server => server.ping())).then(() => '', (error: unknown) => asRedisError(error).message)
    const problem = await within(pingMs, pings) ?? silent
    return problem === '' ? undefined : problem
  }

  async #check (): Promise<RedisReport> {
    this.#checkedAt = performance.now()
    const report = await checkRedis(this.#redis)
    if (JSON.stringify(report) !== JSON.stringify(this.#report)) this.#options.onReport(report)
    this.#report = report
    return report
  }
}
