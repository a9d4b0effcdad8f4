import { createHash } from 'node:crypto'
import { limits } from '@toolyard/contract/terms'
import { BatchedScript, eachCall, fromRedis, idempotencyKey, required, runForGood, whileAvailable, type Redis, type Replicas } from '@toolyard/store'
import { LargeWrites } from './large-writes.ts'

/*
 * The use of an Idempotency-Key, for 24 hours. A request stores the key with all that makes its jobs, makes
 * the jobs, and confirms the key. A request that finds an unconfirmed key makes the same jobs again: a job that exists,
 * or existed and was removed, isn't made twice. See docs/decisions/0004-idempotency-key.md.
 *
 * A key that two requests have found is never freed: the other request may have made its jobs. What makes them is dropped all the
 * same: refused requests, of which there may be any number, keep no more than the ids that a repeat uses again.
 */

export interface IdempotentRequest {
  /** From `ownerOf`: another one's `Idempotency-Key` is another key. */
  owner: string
  /** The `Idempotency-Key`. */
  key: string
  request: string
}

interface TakenKey {
  /** Digest of the request that has it. */
  request: string
  /** As `hold` or `confirm` stored it. */
  text: string
  confirmed: boolean
}

/** Takes a key that is free; answers what another was taken for. ARGV: request, text (empty: take nothing), seconds. */
const takeScript = new BatchedScript('take-idempotency-key', eachCall(`
local taken = redis.call('HMGET', KEYS[1], 'request', 'text', 'confirmed')
if taken[1] then
  if taken[1] == ARGV[1] and not taken[3] then redis.call('HSET', KEYS[1], 'found', '1') end
  return taken
end
if ARGV[2] ~= '' then
  redis.call('HSET', KEYS[1], 'request', ARGV[1], 'text', ARGV[2])
  redis.call('EXPIRE', KEYS[1], ARGV[3])
end
return false
`))

/** Confirms, unless another request holds the key by now. ARGV: request, text, seconds. */
const confirmScript = `
local taken = redis.call('HGET', KEYS[1], 'request')
if taken and taken ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'request', ARGV[1], 'text', ARGV[2], 'confirmed', '1')
if not taken then redis.call('EXPIRE', KEYS[1], ARGV[3]) end
return 1
`

/**
 * Gives a key back; confirms one that another request has found, which may have made its jobs, or be about to. ARGV: request, text.
 */
const releaseScript = `
local taken = redis.call('HMGET', KEYS[1], 'request', 'confirmed', 'found')
if taken[1] ~= ARGV[1] or taken[2] then return 0 end
if not taken[3] then return redis.call('DEL', KEYS[1]) end
return redis.call('HSET', KEYS[1], 'text', ARGV[2], 'confirmed', '1')
`

/** Remembers which request each `Idempotency-Key` was used for. All methods throw RedisUnavailableError. */
export class IdempotencyStore {
  readonly #redis: Redis
  readonly #replicas: Replicas | undefined
  readonly #large: LargeWrites

  /**
   * @param replicas those that must have a key before its jobs are made; undefined: none.
   * @param large the turns of those who write jobs
   */
  constructor (redis: Redis, replicas?: Replicas, large = new LargeWrites()) {
    this.#redis = redis
    this.#replicas = replicas
    this.#large = large
  }

  /**
   * Takes a key, atomically. A failover that forgot the key, and not its jobs, would let a repeat make them twice. A large text is
   * written in its owner's turn.
   *
   * @param text what is stored with it; empty: only look.
   * @returns what the key was taken for before; undefined when it was free.
   */
  async take (asked: IdempotentRequest, text: string): Promise<TakenKey | undefined> {
    const call = { keys: [keyOf(asked)], args: [asked.request, text, limits.idempotencySec] }
    const replicas = text === '' ? undefined : this.#replicas
    const reply = await this.#large.write(asked.owner, text.length, async () => await runForGood(this.#redis, replicas, takeScript, call))
    const taken = fromRedis<Array<string | null> | null>(reply)
    if (taken === null) return undefined
    return { request: required(taken[0], 'the request of a taken key'), text: required(taken[1], 'the text of a taken key'), confirmed: taken[2] === '1' }
  }

  /** The jobs exist; `text` replaces what was stored. */
  async confirm (asked: IdempotentRequest, text: string): Promise<void> {
    await whileAvailable(this.#redis.eval(confirmScript, 1, keyOf(asked), asked.request, text, limits.idempotencySec))
  }

  /** This request made no job: the key is free again, unless a repeat has found it; then `text` replaces what was stored. */
  async release (asked: IdempotentRequest, text: string): Promise<void> {
    await whileAvailable(this.#redis.eval(releaseScript, 1, keyOf(asked), asked.request, text))
  }
}

/** The caller's text becomes a digest: its length is bounded, and it can't be taken for another name and key. */
function keyOf ({ owner, key }: IdempotentRequest): string {
  return idempotencyKey(createHash('sha256').update(JSON.stringify([owner, key])).digest('hex'))
}
