import { isRecord, readJson, writeThrough } from '@toolyard/contract/terms'
import type { Redis } from '../redis/connection.ts'
import { fromRedis } from '../redis/from-redis.ts'
import { mcpChannel, mcpSessionKey, mcpSessionsKey } from '../redis/names.ts'
import { isTexts, readStored } from '../redis/stored.ts'
import { subscribe } from '../redis/subscription.ts'
import { whileAvailable } from '../redis/unavailable.ts'

/** Most sessions have nothing to keep. */
export interface McpSessionState {
  /** The client ended it. */
  ended?: true
  /** From which level on the client wants log messages. */
  level?: string
  /** URIs of the resources whose changes it wants to get. */
  watched?: string[]
}

function isState (value: unknown): value is McpSessionState {
  return isRecord(value) && (value['ended'] === undefined || value['ended'] === true) && ['undefined', 'string'].includes(typeof value['level']) &&
    (value['watched'] === undefined || isTexts(value['watched']))
}

/** A change of what is kept. `most` bounds all URIs that the session watches then, and their bytes. */
export type McpSessionChange =
  | { kind: 'level', level: string }
  | { kind: 'watch', uri: string, most: { uris: number, bytes: number } }
  | { kind: 'unwatch', uri: string }

/** `full`: the session would watch too much. */
type McpSessionOutcome = 'done' | 'full' | 'ended'

/** Every API process gets it: the client may have a stream or a call open at any of them. */
type McpNotice =
  | { kind: 'ended', session: string }
  | { kind: 'stream', session: string, stream: string }
  | { kind: 'cancelled', session: string, request: string | number }

function isNotice (value: unknown): value is McpNotice {
  if (!isRecord(value) || typeof value['session'] !== 'string') return false
  const { kind, stream, request } = value
  return kind === 'ended' || (kind === 'stream' && typeof stream === 'string') || (kind === 'cancelled' && ['string', 'number'].includes(typeof request))
}

/** A client's answer to a question of some process; null where the client can't be asked. */
interface McpAnswer {
  session: string
  request: string
  said: unknown
}

function isAnswer (value: unknown): value is McpAnswer {
  return isRecord(value) && typeof value['session'] === 'string' && typeof value['request'] === 'string' && 'said' in value
}

/** Where they are told. */
const answersChannel = `${mcpChannel}-answers`

/** How long the end of a session is known: a day, in seconds. Its client may still hold its id. */
const endedSec = 86_400
/** How long the state of a session is kept without use: a week. */
const keptSec = 604_800
/** Sessions of one key that something is kept of. */
const mostKept = 1_000

/**
 * Notes that something is kept of a session, for ARGV[2] seconds, among the sessions of its key. Returns those for which there is no
 * room any more: what would be forgotten first leaves.
 */
const keepScript = `
local now = tonumber(redis.call('TIME')[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
redis.call('EXPIRE', KEYS[1], ${keptSec})
local left, over = {}, redis.call('ZCARD', KEYS[1]) - ARGV[3]
if over <= 0 then return left end
for _, session in ipairs(redis.call('ZRANGE', KEYS[1], 0, over)) do
  if session ~= ARGV[1] and #left < over then left[#left + 1] = session end
end
redis.call('ZREM', KEYS[1], unpack(left))
return left
`

const useScript = `
redis.call('ZADD', KEYS[1], 'XX', redis.call('TIME')[1] + ARGV[2], ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[2])
`

/**
 * ARGV: `level`, `watch` or `unwatch`; its value; seconds to keep the record; for `watch`, how many URIs and bytes there may be.
 * Lua writes an empty list as an object, so there is none.
 */
const changeScript = `
local text = redis.call('GET', KEYS[1])
local state = text and cjson.decode(text) or {}
if state.ended then return 'ended' end
if ARGV[1] == 'level' then
  state.level = ARGV[2]
else
  local watched, bytes = {}, 0
  for _, uri in ipairs(state.watched or {}) do
    if uri ~= ARGV[2] then
      watched[#watched + 1] = uri
      bytes = bytes + #uri
    end
  end
  if ARGV[1] == 'watch' then
    watched[#watched + 1] = ARGV[2]
    if #watched > tonumber(ARGV[4]) or bytes + #ARGV[2] > tonumber(ARGV[5]) then return 'full' end
  end
  state.watched = #watched > 0 and watched or nil
end
if next(state) == nil then redis.call('DEL', KEYS[1]) else redis.call('SET', KEYS[1], cjson.encode(state), 'EX', ARGV[3]) end
return 'done'
`

/** The sessions of MCP clients of the revisions of 2025, as far as their ids don't say it. */
export class McpSessions {
  readonly #commands: Redis
  readonly #subscriber: Redis

  constructor (commands: Redis, subscriber: Redis) {
    this.#commands = commands
    this.#subscriber = subscriber
  }

  /**
   * Reads what is kept, and keeps it longer.
   *
   * @param owner names the key that the session is of.
   * @throws RedisUnavailableError
   */
  async read (session: string, owner: string): Promise<McpSessionState> {
    const key = mcpSessionKey(session)
    const text = await whileAvailable(this.#commands.get(key))
    if (text === null) return {}
    const state = readStored('what is kept of an MCP session', text, isState)
    if (state.ended === true) return state
    this.#commands.expire(key, keptSec).catch(() => {})
    this.#commands.eval(useScript, 1, mcpSessionsKey(owner), session, keptSec).catch(() => {})
    return state
  }

  /**
   * Changes some of what is kept, in one step. Where a key has many sessions, what is kept of the one that was used least
   * recently is forgotten.
   *
   * @throws RedisUnavailableError
   */
  async change (session: string, change: McpSessionChange, owner: string): Promise<McpSessionOutcome> {
    await this.#keep(session, owner, keptSec)
    const { kind } = change
    const about = [kind, kind === 'level' ? change.level : change.uri, keptSec, ...kind === 'watch' ? [change.most.uris, change.most.bytes] : []]
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- What the script returns.
    return await whileAvailable(this.#commands.eval(changeScript, 1, mcpSessionKey(session), ...about)) as McpSessionOutcome
  }

  /**
   * Ends a session: nothing of it can be changed any more.
   *
   * @throws RedisUnavailableError
   */
  async end (session: string, owner: string): Promise<void> {
    await this.#keep(session, owner, endedSec)
    await whileAvailable(this.#commands.set(mcpSessionKey(session), JSON.stringify({ ended: true }), 'EX', endedSec))
  }

  /**
   * Tells all processes, this one too.
   *
   * @throws RedisUnavailableError
   */
  async tell (notice: McpNotice): Promise<void> {
    await whileAvailable(this.#commands.publish(mcpChannel, JSON.stringify(notice)))
  }

  /** Listens from now on; while Redis is away the subscription waits for it. */
  listen (onNotice: (notice: McpNotice) => void): void {
    subscribe(this.#subscriber, mcpChannel, message => { onNotice(readStored('a notice of MCP', message, isNotice)) }).catch(() => {})
  }

  /**
   * Tells all processes what a client says, this one too: one of them has asked.
   *
   * @throws RedisUnavailableError
   */
  async answer (answer: McpAnswer): Promise<void> {
    await whileAvailable(this.#commands.publish(answersChannel, writeThrough(answer)))
  }

  /** As `listen`. */
  listenForAnswers (onAnswer: (answer: McpAnswer) => void): void {
    subscribe(this.#subscriber, answersChannel, message => { onAnswer(readStored('an answer of MCP', message, isAnswer, readJson)) }).catch(() => {})
  }

  async #keep (session: string, owner: string, sec: number): Promise<void> {
    const keeping = this.#commands.eval(keepScript, 1, mcpSessionsKey(owner), session, sec, mostKept)
    const left = fromRedis<string[]>(await whileAvailable(keeping))
    // In a Redis Cluster, they may be on other servers than the list.
    await Promise.all(left.map(each => whileAvailable(this.#commands.unlink(mcpSessionKey(each)))))
  }
}
