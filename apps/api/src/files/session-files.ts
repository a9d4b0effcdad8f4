import { asError, HttpError, type CallError } from '@toolyard/contract'
import { goneError, type SessionLeases, type SessionStay, type Sessions } from '@toolyard/store'
import { openSessionDirectory, SessionCounts, SessionQuota, TemplateError, type CountedSession, type SessionPlaces } from '@toolyard/workspace'
import { useSession } from '../access/session-access.ts'
import type { Principal } from '../access/principal.ts'
import type { FileSpace } from './file-space.ts'

interface SessionFilesOptions {
  sessions: Sessions
  leases: SessionLeases
  places: SessionPlaces
  serviceFiles: readonly string[]
  declarations: readonly string[]
}

/** The files of sessions. Whoever is served has a lease of the session: its directory isn't removed meanwhile. */
export class SessionFiles {
  readonly #options: SessionFilesOptions
  readonly #counts = new SessionCounts()
  readonly #quota = new SessionQuota(this.#counts)

  constructor (options: SessionFilesOptions) {
    this.#options = options
  }

  /**
   * The files of a session that a key may use, which renews its time to live.
   *
   * @throws HttpError as `useSession`, `CONFLICT` where its template can't be copied; RedisUnavailableError; errors of the file system.
   */
  async open (id: string, principal: Principal): Promise<FileSpace> {
    const { sessions, leases, places, serviceFiles, declarations } = this.#options
    await useSession(sessions, id, principal)
    const stay = await leases.enter(id, principal.tenant)
    if (stay === undefined) throw goneSession(id)
    try {
      const dir = await openSessionDirectory(places, stay.session)
      const session = { ...stay.session, dir }
      let [isChanged, isKnown] = [false, true]
      return {
        workspace: { path: dir, serviceFiles, declarations },
        signal: stay.signal,
        allow: async addition => {
          isChanged = true
          return await this.#quota.allow(session, addition)
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
      throw error instanceof TemplateError ? new HttpError('CONFLICT', asError(error).message) : error
    }
  }

  /** The files may be gone by now, which the session shows. */
  async #note (session: CountedSession, { noteUsage }: SessionStay, isKnown: boolean): Promise<void> {
    const bytes = this.#counts.freshBytes(session, () => isKnown) ?? await this.#counts.count(session).catch(() => Infinity)
    if (Number.isFinite(bytes)) noteUsage(bytes)
  }
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
