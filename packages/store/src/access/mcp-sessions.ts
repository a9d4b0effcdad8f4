import { storedJson } from '@toolyard/contract/terms'
import type { Redis } from '../redis/connection.ts'
import { mcpChannel, mcpSessionKey } from '../redis/names.ts'
import { subscribe } from '../redis/subscription.ts'
import { whileAvailable } from '../redis/unavailable.ts'

/** What is kept of a session; most sessions have nothing to keep. */
export interface McpSessionState {
  /** The client ended it. */
  ended?: true
  /** From which level on the client wants log messages. */
  level?: string
  /** URIs of the resources whose changes it wants to get. */
  watched?: string[]
}

/** A change of what is kept. `most` bounds all URIs that the session watches then, and their bytes. */
export type McpSessionChange =
  | { level: string }
  | { watch: string, most: { uris: number, bytes: number } }
  | { unwatch: string }

/** What became of a change: the session would watch too much, or has ended. */
export type McpSessionOutcome = 'done' | 'full' | 'ended'

/** What every API process gets about a session: the client may have a stream or a call open at any of them. */
export type McpNotice =
  | { kind: 'ended', session: string }
  | { kind: 'stream', session: string, stream: string }
  | { kind: 'cancelled', session: string, request: string | number }

/** How long the end of a session is known: a day, in seconds. Its client may still hold its id. */
const endedSec = 86_400
/** How long the state of a session is kept without use: a week. */
const keptSec = 604_800

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
   * @throws RedisUnavailableError
   */
  async read (session: string): Promise<McpSessionState> {
    const key = mcpSessionKey(session)
    const text = await whileAvailable(this.#commands.get(key))
    if (text === null) return {}
    const state = storedJson<McpSessionState>(text)
    if (state.ended !== true) this.#commands.expire(key, keptSec).catch(() => {})
    return state
  }

  /**
   * Changes some of what is kept, in one step.
   *
   * @throws RedisUnavailableError
   */
  async change (session: string, change: McpSessionChange): Promise<McpSessionOutcome> {
    const about = 'level' in change
      ? ['level', change.level, keptSec]
      : 'watch' in change
        ? ['watch', change.watch, keptSec, change.most.uris, change.most.bytes]
        : ['unwatch', change.unwatch, keptSec]
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- What the script returns.
    return await whileAvailable(this.#commands.eval(changeScript, 1, mcpSessionKey(session), ...about)) as McpSessionOutcome
  }

  /**
   * Ends a session: nothing of it can be changed any more.
   *
   * @throws RedisUnavailableError
   */
  async end (session: string): Promise<void> {
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
    subscribe(this.#subscriber, mcpChannel, message => { onNotice(storedJson<McpNotice>(message)) }).catch(() => {})
  }
}
