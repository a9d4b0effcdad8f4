import { checkNewKey, ErrorBody, HttpError, KeyList, NewKeyRequest, NewKeyResponse, RevokedKey, type KeyView } from '@toolyard/contract'
import { maxStoredKeys, type ListedKey, type StoredKeys, type StoredSecrets } from '@toolyard/store'
import { boundHostsRule } from '@toolyard/contract/terms'
import { Type } from '@toolyard/contract/type'
import { readEgressRule } from '@toolyard/runtime/outgoing'
import type { KeyRing } from '../../access/key-ring.ts'
import { nobody, principalOf, requireOperator, requireUnbound, type Principal } from '../../access/principal.ts'
import { bodyChecked } from '../../plugins/body/body-check.ts'
import type { App } from '../../plugins/typed-app.ts'
import { secretRoutes } from './secrets.ts'

const noKey = 'There is no such key in Redis'

/** API keys that are made and revoked while the service runs, by operators who may do everything themselves. */
export async function keyRoutes (app: App, keys: KeyRing, stored: StoredKeys, secrets: StoredSecrets | undefined): Promise<void> {
  await secretRoutes(app, secrets)

  app.get('/keys', { config: { role: 'admin' }, schema: { response: { 200: KeyList, '4xx': ErrorBody, '5xx': ErrorBody } } }, async request => {
    requireKeeper(principalOf(request))
    const all = [...keys.settled.map(key => view(key, 'settings')), ...(await stored.list()).map(key => view(key, 'redis'))]
    return { ok: true as const, keys: all, count: all.length }
  })

  app.post('/keys', {
    config: { changes: { action: 'key.make', fields: ['role', 'tenant', 'permissions', 'queue_allowlist', 'namespaces', 'hosts', 'expires_in_sec'] } },
    schema: { body: NewKeyRequest, response: { 201: NewKeyResponse, '4xx': ErrorBody, '5xx': ErrorBody } },
    validatorCompiler: bodyChecked(checkNewKey)
  }, async (request, reply) => {
    requireKeeper(principalOf(request))
    const {
      name, role, tenant, queue_allowlist: queueAllowlist, permissions, namespaces, hosts, sse = true, expires_in_sec: expiresIn
    } = request.body
    if (hosts?.some(host => readEgressRule(host) === undefined) === true) throw new HttpError('VALIDATION_ERROR', `'hosts' ${boundHostsRule}`)
    if (keys.settled.some(key => key.name === name) || await stored.isTaken(name)) throw taken(name)
    // What an earlier key of this name has left, whose time is over. Not afterwards: who gets an error has no key that nobody knows.
    await secrets?.removeAllOf({ kind: 'key', key: name })
    const made = await stored.add({ name, role, tenant, queueAllowlist, permissions, namespaces, hosts, sse }, expiresIn)
    if (made === 'taken') throw taken(name)
    if (made === 'full') throw new HttpError('CONFLICT', `There are ${maxStoredKeys} keys already: revoke some`)
    request.log.info({ key: principalOf(request).name, made: name }, 'keys: made')
    return await reply.code(201).send({ ok: true as const, key: { ...view(made.listed, 'redis'), key: made.text } })
  })

  app.delete('/keys/:name', {
    config: { changes: { action: 'key.revoke' } },
    schema: { params: Type.Object({ name: Type.String() }), response: { 200: RevokedKey, '4xx': ErrorBody, '5xx': ErrorBody } }
  }, async request => {
    requireKeeper(principalOf(request))
    const { name } = request.params
    const isSettled = keys.settled.some(key => key.name === name)
    // A later key of this name must not get them.
    if (!isSettled) await secrets?.removeAllOf({ kind: 'key', key: name })
    const isRevoked = await stored.revoke(name)
    if (!isRevoked && isSettled) {
      throw new HttpError('CONFLICT', `The key '${name}' is of the settings: take it out of API_KEYS_JSON, or API_KEY, and start again`)
    }
    if (!isRevoked) throw new HttpError('NOT_FOUND', noKey)
    request.log.info({ key: principalOf(request).name, revoked: name }, 'keys: revoked')
    return { ok: true as const, name }
  })
}

function requireKeeper (principal: Principal): void {
  if (principal === nobody) throw new HttpError('FORBIDDEN', 'Without authentication there are no keys: unset API_AUTH_DISABLED.')
  requireOperator(principal)
  requireUnbound(principal, 'the keys are')
}

function taken (name: string): HttpError {
  return new HttpError('CONFLICT', `There is a key '${name}' already: revoke it first, or choose another name`)
}

function view (
  { name, role, tenant, queueAllowlist, permissions, namespaces, hosts, sse, createdAt, expiresAt, lastUsedAt }: Omit<ListedKey, 'createdAt' | 'expiresAt' | 'lastUsedAt'> & Partial<ListedKey>,
  source: KeyView['source']
): KeyView {
  return {
    name,
    role,
    tenant: tenant ?? null,
    queue_allowlist: queueAllowlist === undefined ? null : [...queueAllowlist],
    permissions: permissions === undefined ? null : [...permissions],
    namespaces: namespaces === undefined ? null : [...namespaces],
    hosts: hosts === undefined ? null : [...hosts],
    sse,
    source,
    created_at: isoOrNull(createdAt),
    expires_at: isoOrNull(expiresAt),
    last_used_at: isoOrNull(lastUsedAt)
  }
}

function isoOrNull (ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString()
}
