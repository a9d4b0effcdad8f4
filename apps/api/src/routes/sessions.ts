import { checkNewSession, ErrorBody, HttpError, isRecord, NewSessionRequest, parseSessionListQuery, SessionList, SessionResponse, type SessionView } from '@toolyard/contract'
import { maxSessions, type Session, type Sessions } from '@toolyard/store'
import type { LimitOf, SessionSettings } from '@toolyard/runtime'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Type } from '@toolyard/contract/type'
import { principalOf } from '../access/principal.ts'
import { findSession, found } from '../access/session-access.ts'
import { bodyChecked } from '../plugins/body/body-check.ts'
import type { App } from '../plugins/typed-app.ts'
import { ListTurns } from '../plugins/list-turns.ts'

const params = Type.Object({ id: Type.String() })
const errors = { '4xx': ErrorBody, '5xx': ErrorBody }

/** Making, listing, reading and removing sessions: workspaces of one tenant. */
export async function sessionRoutes (app: App, sessions: Sessions, settings: SessionSettings, maxBytes: LimitOf): Promise<void> {
  const turns = new ListTurns()

  app.post('/sessions', {
    config: { bodyOptional: true },
    schema: { body: NewSessionRequest, response: { 201: SessionResponse, ...errors } },
    validatorCompiler: bodyChecked(checkNewSession)
  }, async (request, reply) => {
    const { tenant, name: keyName } = principalOf(request)
    const { ttl_sec: ttl, quota_bytes: quota, from } = isRecord(request.body) ? request.body : {}
    const quotaBytes = quota ?? settings.quotaBytes
    if (quotaBytes > settings.quotaBytes) {
      throw new HttpError('VALIDATION_ERROR', `'quota_bytes' must be at most ${settings.quotaBytes}, which SESSION_QUOTA_BYTES allows`)
    }
    if (from !== undefined && from !== null) await checkTemplate(from, settings)
    const wanted = { tenant, keyName, ttlSec: ttl ?? settings.ttlSec, quotaBytes, from: from ?? undefined }
    const made = await sessions.make(wanted, maxBytes(tenant))
    if (made === 'full') throw new HttpError('CONFLICT', `There are ${maxSessions} sessions already: remove some`)
    if ('bytesLeft' in made) {
      throw new HttpError('CONFLICT', `The quotas of all sessions of the tenant may come to ${maxBytes(tenant)} bytes (max_session_bytes), of which ${made.bytesLeft} are left: ask for 'quota_bytes' of that, or remove sessions`)
    }
    return await reply.code(201).send({ ok: true as const, session: view(made) })
  })

  app.get('/sessions', { config: { checksQuery: true }, schema: { response: { 200: SessionList, ...errors } } }, async (request, reply) => {
    const { tenant: own } = principalOf(request)
    const { tenant = own, limit, cursor } = parseSessionListQuery(isRecord(request.query) ? request.query : {})
    if (own !== undefined && tenant !== own) return { ok: true as const, sessions: [], count: 0, next_cursor: null }
    const { sessions: page, next } = await turns.run(request, reply, async () => await sessions.list({ tenant, before: cursor, limit }))
    return { ok: true as const, sessions: page.map(view), count: page.length, next_cursor: next ?? null }
  })

  app.get('/sessions/:id', { schema: { params, response: { 200: SessionResponse, ...errors } } }, async request => ({
    ok: true as const, session: view(await findSession(sessions, request.params.id, principalOf(request)))
  }))

  app.delete('/sessions/:id', { config: { changes: { action: 'session.remove' } }, schema: { params, response: { 202: SessionResponse, ...errors } } }, async (request, reply) => {
    const { id } = request.params
    const principal = principalOf(request)
    const { keyName } = await findSession(sessions, id, principal)
    if (keyName !== principal.name && principal.permissions?.includes('write_files') === false) {
      throw new HttpError('FORBIDDEN', 'This API key may not change files (write_files); it removes the sessions that it has made.')
    }
    const removed = found(await sessions.remove(id, principal.tenant))
    request.log.info({ key: principal.name, session: id }, 'session is removed')
    return await reply.code(202).send({ ok: true as const, session: view(removed) })
  })
}

/** @throws HttpError `VALIDATION_ERROR` */
async function checkTemplate (from: string, { templatesDir }: SessionSettings): Promise<void> {
  const found = templatesDir === undefined ? undefined : await stat(join(templatesDir, from)).catch(() => undefined)
  if (found?.isDirectory() !== true) throw new HttpError('VALIDATION_ERROR', "'from' names no template: it is a directory of SESSION_TEMPLATES_DIR")
}

function view (session: Session): SessionView {
  return {
    id: session.id,
    tenant: session.tenant ?? null,
    key: session.keyName,
    state: session.state,
    from: session.from ?? null,
    ttl_sec: session.ttlSec,
    quota_bytes: session.quotaBytes,
    used_bytes: session.usedBytes ?? null,
    created_at: new Date(session.createdAt).toISOString(),
    last_used_at: new Date(session.usedAt).toISOString(),
    expires_at: new Date(session.expiresAt).toISOString()
  }
}
