import { Files } from './files.ts'
import type { WaitOptions } from './jobs.ts'
import { pathSegment } from './http/path-segment.ts'
import { list, number, record, text } from './http/shape.ts'
import type { Transport } from './http/transport.ts'
import type { NewSession, SessionList, SessionView } from './http/wire.ts'

const sessionShape = record({ id: text, state: text, expires_at: text, ttl_sec: number, quota_bytes: number })

export interface SessionQuery {
  /** Of one tenant; for keys without a tenant. */
  tenant?: string | undefined
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
}

/** The sessions of a service: workspaces of one tenant. All methods throw a ToolyardError. */
export class Sessions {
  readonly #transport: Transport

  constructor (transport: Transport) {
    this.#transport = transport
  }

  /** Makes a session. Where the answer is lost it is asked for again: the one that nobody knows of ends with its time to live. */
  async make (session: NewSession = {}, { signal }: WaitOptions = {}): Promise<SessionView> {
    return (await this.#transport.send<{ session: SessionView }>({ method: 'POST', path: '/v1/sessions', body: session, signal }, { session: sessionShape })).session
  }

  async get (id: string, { signal }: WaitOptions = {}): Promise<SessionView> {
    return (await this.#transport.send<{ session: SessionView }>({ method: 'GET', path: pathOf(id), signal }, { session: sessionShape })).session
  }

  /** A page of sessions, newest first. */
  async list (query: SessionQuery = {}, { signal }: WaitOptions = {}): Promise<SessionList> {
    return await this.#transport.send<SessionList>({ method: 'GET', path: '/v1/sessions', query: { ...query }, signal }, { sessions: list(sessionShape) })
  }

  /** Begins to remove a session and its files. */
  async remove (id: string, { signal }: WaitOptions = {}): Promise<SessionView> {
    return (await this.#transport.send<{ session: SessionView }>({ method: 'DELETE', path: pathOf(id), signal }, { session: sessionShape })).session
  }

  files (id: string): Files {
    return new Files(this.#transport, `${pathOf(id)}/files`)
  }
}

function pathOf (id: string): string {
  return `/v1/sessions/${pathSegment(id)}`
}
