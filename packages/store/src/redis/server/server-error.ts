/** A Redis server that can't be had or doesn't start; the message is for the person at the terminal. */
export class RedisServerError extends Error {
  override readonly name = 'RedisServerError'
}
