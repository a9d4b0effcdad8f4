import { HttpError } from '@toolyard/contract'
import { jobIdPattern, type Session, type Sessions } from '@toolyard/store'
import type { SessionSettings } from '@toolyard/runtime'
import type { Principal } from './principal.ts'

/**
 * Reads a session that a key may see. An id that can't be one names none; another tenant's session looks the same.
 *
 * @throws HttpError `NOT_FOUND`; RedisUnavailableError.
 */
export async function findSession (sessions: Sessions, id: string, { tenant }: Principal): Promise<Session> {
  return found(jobIdPattern.test(id) ? await sessions.find(id, tenant) : undefined)
}

/**
 * A session that a key is about to use, which renews its time to live.
 *
 * @throws HttpError `NOT_FOUND`, `CONFLICT` for one that is being removed; RedisUnavailableError.
 */
export async function useSession (sessions: Sessions, id: string, { tenant }: Principal): Promise<Session> {
  const session = found(jobIdPattern.test(id) ? await sessions.use(id, tenant) : undefined)
  if (session.state !== 'open') throw new HttpError('CONFLICT', `Session ${id} is being removed: make another one with POST /v1/sessions`)
  return session
}

/**
 * Checks the session that a request names, if it names one.
 *
 * @throws HttpError as `useSession`, and `VALIDATION_ERROR` where every request must name one; RedisUnavailableError.
 */
export type SessionAccess = (session: string | undefined, principal: Principal) => Promise<void>

/** Makes the check for a service that requires sessions, or doesn't. */
export function createSessionAccess (sessions: Sessions, { isRequired }: Pick<SessionSettings, 'isRequired'>): SessionAccess {
  return async (session, principal) => {
    if (session !== undefined) await useSession(sessions, session, principal)
    else if (isRequired) throw new HttpError('VALIDATION_ERROR', "'session' is required here (SESSIONS=require): make one with POST /v1/sessions. /mcp takes it as ?session=ID")
  }
}

/** @throws HttpError `NOT_FOUND` */
export function found (session: Session | undefined): Session {
  if (session === undefined) throw new HttpError('NOT_FOUND', 'Session not found')
  return session
}
