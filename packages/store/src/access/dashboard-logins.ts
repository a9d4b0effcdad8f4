import { createHash, randomBytes } from 'node:crypto'
import type { Redis } from '../redis/connection.ts'
import { dashboardKey } from '../redis/names.ts'
import { serverTime } from '../redis/server-clock.ts'
import { whileAvailable } from '../redis/unavailable.ts'
import { required } from '../redis/required.ts'

/** How many attempts to log in one address, and all together, may make within a time. */
const ownLimit = { attempts: 10, sec: 300 }
const overallLimit = { attempts: 100, sec: 60 }

/** Counts an attempt unless there were too many; answers how many seconds to wait, 0 for none. ARGV: attempts and seconds of each key. */
const admitScript = `
local wait = 0
for i = 1, #KEYS do
  if tonumber(redis.call('GET', KEYS[i]) or '0') >= tonumber(ARGV[2 * i - 1]) then wait = math.max(wait, redis.call('TTL', KEYS[i]), 1) end
end
if wait > 0 then return wait end
for i = 1, #KEYS do
  if redis.call('INCR', KEYS[i]) == 1 then redis.call('EXPIRE', KEYS[i], ARGV[2 * i]) end
end
return 0
`

/** Who is logged in to the dashboard, for all API processes. All methods throw RedisUnavailableError. */
export class DashboardLogins {
  readonly #redis: Redis

  constructor (redis: Redis) {
    this.#redis = redis
  }

  /** Redis' time, in milliseconds since 1970: one process begins a session, another one ends it. */
  now (): number {
    return serverTime(this.#redis)
  }

  /** Signs a session that is about to begin; made by the first process that needs it. */
  async secret (): Promise<string> {
    await whileAvailable(this.#redis.set(dashboardKey('secret'), randomBytes(32).toString('base64url'), 'NX'))
    return required(await whileAvailable(this.#redis.get(dashboardKey('secret'))), 'the secret of the dashboard')
  }

  /** The secret that a session must be signed with; undefined when the session was ended, or there is no secret. */
  async secretFor (sessionId: string): Promise<string | undefined> {
    const [secret, ended] = await whileAvailable(this.#redis.mget(dashboardKey('secret'), dashboardKey(`ended:${sessionId}`)))
    return ended === null ? secret ?? undefined : undefined
  }

  /** Ends a session for all processes; `sec` is the time that it would have had left. */
  async end (sessionId: string, sec: number): Promise<void> {
    await whileAvailable(this.#redis.set(dashboardKey(`ended:${sessionId}`), '1', 'EX', Math.max(1, Math.ceil(sec))))
  }

  /** Counts an attempt to log in; how many seconds to wait when there were too many, else 0. */
  async admit (address: string): Promise<number> {
    const limits = [ownLimit, overallLimit].flatMap(({ attempts, sec }) => [attempts, sec])
    return Number(await whileAvailable(this.#redis.eval(admitScript, 2, attemptsKey(address), dashboardKey('attempts'), ...limits)))
  }

  /** An attempt succeeded: the address begins anew. */
  async succeeded (address: string): Promise<void> {
    await whileAvailable(this.#redis.del(attemptsKey(address)))
  }
}

function attemptsKey (address: string): string {
  return dashboardKey(`attempts:${createHash('sha256').update(network(address)).digest('base64url')}`)
}

/** An owner of one IPv6 address has 2^64 of them. Some proxies name the port of a visitor too, which differs with each connection. */
function network (given: string): string {
  const address = given.replace(/^(\d+(?:\.\d+){3}):\d+$/, '$1')
  if (!address.includes(':') || address.includes('.')) return address
  const [head = '', tail] = address.split('::')
  const groups = head === '' ? [] : head.split(':')
  const zeros = tail === undefined ? 0 : 8 - groups.length - tail.split(':').length
  return [...groups, ...Array.from({ length: zeros }, () => '0'), ...(tail ?? '').split(':')].slice(0, 4).join(':')
}
