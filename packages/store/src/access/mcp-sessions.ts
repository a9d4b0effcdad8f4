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

/** What every API process gets about a session: the client may have a stream or a call open at any of them. */
export type McpNotice =
  | { kind: 'ended', session: string }
  | { kind: 'stream', session: string, stream: string }
  | { kind: 'cancelled', session: string, request: string | number }

/** How long something is kept of a session since it was last written: a month, in seconds. */
const keptSec = 2_592_000

/** The sessions of MCP clients of the revisions of 2025, as far as their ids don't say it. */
export class McpSessions {
  readonly #commands: Redis
  readonly #subscriber: Redis

  constructor (commands: Redis, subscriber: Redis) {
    this.#commands = commands
    this.#subscriber = subscriber
  }

  /** @throws RedisUnavailableError */
  async read (session: string): Promise<McpSessionState> {
    const text = await whileAvailable(this.#commands.get(mcpSessionKey(session)))
    return text === null ? {} : storedJson<McpSessionState>(text)
  }

  /**
   * Changes some of what is kept.
   *
   * @throws RedisUnavailableError
   */
  async change (session: string, change: McpSessionState): Promise<void> {
    await this.write(session, { ...await this.read(session), ...change })
  }

  /** @throws RedisUnavailableError */
  async write (session: string, state: McpSessionState): Promise<void> {
    await whileAvailable(this.#commands.set(mcpSessionKey(session), JSON.stringify(state), 'EX', keptSec))
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
