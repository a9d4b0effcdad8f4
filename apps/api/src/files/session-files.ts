import { asError, HttpError, type CallError } from '@toolyard/contract'
import { goneError, type SessionLeases, type SessionStay, type Sessions } from '@toolyard/store'
import { leastBytes, openSessionDirectory, SessionCounts, TemplateMissingError, WorkspaceFailure, type CountedSession, type SessionPlaces } from '@toolyard/workspace'
import { useSession } from '../access/session-access.ts'
import type { Principal } from '../access/principal.ts'
import type { Addition, Allowance, FileSpace } from './file-space.ts'

/** What file systems give out at a time. */
const blockBytes = 4_096

export interface SessionFilesOptions {
  sessions: Sessions
  leases: SessionLeases
  places: SessionPlaces
  serviceFiles: readonly string[]
}

/** The files of sessions. Whoever is served has a lease of the session: its directory isn't removed meanwhile. */
export class SessionFiles {
  readonly #options: SessionFilesOptions
  readonly #counts = new SessionCounts()
  /** Bytes that are still to come, by session, and of how many requests: what has come is in the counts. */
  readonly #room = new Map<string, { bytes: number, requests: number }>()

  constructor (options: SessionFilesOptions) {
    this.#options = options
  }

  /**
   * The files of a session that a key may use, which renews its time to live.
   *
   * @throws HttpError as `useSession`, `CONFLICT` where the template is missing; RedisUnavailableError; errors of the file system.
   */
  async open (id: string, principal: Principal): Promise<FileSpace> {
    const { sessions, leases, places, serviceFiles } = this.#options
    await useSession(sessions, id, principal)
    const stay = await leases.enter(id, principal.tenant)
    if (stay === undefined) throw goneSession(id)
    try {
      const dir = await openSessionDirectory(places, stay.session)
      const session = { id, dir, quotaBytes: stay.session.quotaBytes }
      let [isChanged, isKnown] = [false, true]
      return {
        workspace: { path: dir, serviceFiles },
        signal: stay.signal,
        allow: async addition => {
          isChanged = true
          return await this.#allow(session, addition)
        },
        freed: bytes => {
          isChanged = true
          isKnown &&= bytes !== undefined
          if (bytes === undefined) this.#counts.outdate(id)
          else this.#counts.add(id, -bytes)
        },
        gone: () => stay.signal.aborted ? whyGone(stay) : undefined,
        leave: () => {
          stay.leave()
          if (isChanged) void this.#note(session, stay, isKnown)
        }
      }
    } catch (error) {
      stay.leave()
      throw error instanceof TemplateMissingError ? new HttpError('CONFLICT', asError(error).message) : error
    }
  }

  /** What the session shows: the files may be gone by now. */
  async #note (session: CountedSession, { noteUsage }: SessionStay, isKnown: boolean): Promise<void> {
    const { bytes } = await this.#counts.bytesOf(session, () => isKnown).catch(() => ({ bytes: Infinity }))
    if (Number.isFinite(bytes)) noteUsage(bytes)
  }

  async #allow (session: CountedSession, { coming, entries, replaced: expected }: Addition): Promise<Allowance> {
    const { id, quotaBytes } = session
    const beside = entries * leastBytes
    const mayTake = (used: number): boolean => used + this.#kept(id) + Math.max(0, coming + beside - expected) <= quotaBytes
    // While something comes, what is noted here is more exact than a new count.
    const known = await this.#counts.bytesOf(session, used => this.#room.has(id) && mayTake(used))
    const used = known.isNew || mayTake(known.bytes) ? known.bytes : await this.#counts.count(session)
    if (!mayTake(used)) throw overQuota(quotaBytes)
    let [left, added, replaced, kept] = [coming, 0, expected, 0]
    // What it replaces is room for itself alone: until then it is there, and nobody knows whether it will go.
    const keep = (requests = 0): void => {
      const now = Math.max(left + beside - replaced, -added)
      this.#keep(id, now - kept, requests)
      kept = now
    }
    keep(1)
    let placed = (): void => {}
    return {
      add: bytes => {
        const announced = Math.min(bytes, left)
        left -= announced
        added += bytes
        keep()
        const used = this.#counts.add(id, bytes)
        // For what was said to come there is room, although a count that ran meanwhile may have it twice.
        if (bytes > announced && used + this.#kept(id) > quotaBytes) throw overQuota(quotaBytes)
      },
      replace: bytes => {
        const isLess = bytes < replaced
        replaced = bytes
        keep()
        placed()
        placed = this.#counts.move(id, added)
        if (isLess && this.#counts.add(id, 0) + this.#kept(id) > quotaBytes) throw overQuota(quotaBytes)
      },
      end: stays => {
        placed()
        this.#keep(id, -kept, -1)
        this.#counts.add(id, stays ? inBlocks(added, entries) - added - replaced : -added)
      }
    }
  }

  #kept (id: string): number {
    return this.#room.get(id)?.bytes ?? 0
  }

  #keep (id: string, bytes: number, requests = 0): void {
    const room = this.#room.get(id) ?? { bytes: 0, requests: 0 }
    this.#room.set(id, { bytes: room.bytes + bytes, requests: room.requests + requests })
    if (room.requests + requests === 0) this.#room.delete(id)
  }
}

/** What a file, or a directory, takes with all entries that were made for it: no less than the next count will find. */
function inBlocks (bytes: number, entries: number): number {
  const blocks = Math.ceil(bytes / blockBytes)
  return blockBytes * (blocks === 0 ? entries : blocks + Math.max(0, entries - 1))
}

function overQuota (quotaBytes: number): WorkspaceFailure {
  return new WorkspaceFailure(`The files of the session would take more than its quota of ${quotaBytes} bytes; nothing was changed`, 'QUOTA_EXCEEDED')
}

/** Who is only cut off from Redis doesn't know whether the session is still there. */
function whyGone ({ session, signal }: SessionStay): HttpError {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- `SessionStay` says so.
  const { code, message } = signal.reason as CallError
  return code === 'SESSION_GONE' ? goneSession(session.id) : new HttpError('UNAVAILABLE', message)
}

function goneSession (id: string): HttpError {
  return new HttpError('NOT_FOUND', goneError(id).message)
}
