import { createHash } from 'node:crypto'
import type { Redis } from '../redis/connection.ts'
import { sessionsKey } from '../redis/names.ts'
import { mayRedisTakeItLater, whileAvailable } from '../redis/unavailable.ts'

/** Files that are remembered of a session, and for how many seconds after the last one of them. */
const most = { files: 10_000, sec: 7 * 86_400 }

/** Which files the model of a session has been shown, whichever worker showed them. */
export class ShownFiles {
  readonly #redis: Redis

  constructor (redis: Redis) {
    this.#redis = redis
  }

  /** Notes a file, and says whether it is new to the session. While Redis is away every file is. */
  async isFirst (session: string, path: string): Promise<boolean> {
    const key = sessionsKey(`shown:${session}`)
    const file = createHash('sha256').update(path).digest('base64url').slice(0, 22)
    try {
      const commands = [this.#redis.sadd(key, file), this.#redis.expire(key, most.sec), this.#redis.scard(key)] as const
      const [added, , count] = await whileAvailable(Promise.all(commands))
      if (count > most.files) await whileAvailable(this.#redis.del(key))
      return added === 1
    } catch (error) {
      if (mayRedisTakeItLater(error)) return true
      throw error
    }
  }
}
