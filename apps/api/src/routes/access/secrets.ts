import { checkSecretRequest, ErrorBody, HttpError, SecretAnswer, SecretList, SecretName, SecretPlace, SecretRequest, SecretRotation, type SecretView } from '@toolyard/contract'
import { maxStoredSecrets, type ListedSecret, type SecretScope, type StoredSecrets } from '@toolyard/store'
import { isSecretName, secretNamePattern } from '@toolyard/contract/terms'
import { Type } from '@toolyard/contract/type'
import { isBound, principalOf, requireOperator, requireUnbound, type Principal } from '../../access/principal.ts'
import { bodyChecked } from '../../plugins/body/body-check.ts'
import type { App } from '../../plugins/typed-app.ts'
import { ListTurns } from '../../plugins/list-turns.ts'

const errors = { '4xx': ErrorBody, '5xx': ErrorBody }
const params = Type.Object({ name: SecretName })

/** Secrets that tools use: stored sealed, listed by name, never read back. */
export async function secretRoutes (app: App, secrets: StoredSecrets | undefined): Promise<void> {
  const turns = new ListTurns()
  const stored = (): StoredSecrets => {
    if (secrets === undefined) throw new HttpError('CONFLICT', 'No secrets can be stored without SECRETS_KEY, which seals them: openssl rand -hex 32 makes one, for the API and the workers')
    return secrets
  }

  app.get('/secrets', { config: { role: 'admin' }, schema: { response: { 200: SecretList, ...errors } } }, async (request, reply) => {
    const principal = principalOf(request)
    const all = (await turns.run(request, reply, async () => await stored().list(scope => isVisible(scope, principal)))).map(view)
    return { ok: true as const, secrets: all, count: all.length }
  })

  app.put('/secrets/:name', {
    config: { changes: { action: 'secret.set', fields: ['scope', 'tenant'] } },
    schema: { params, body: SecretRequest, response: { 200: SecretAnswer, ...errors } },
    validatorCompiler: bodyChecked(checkSecretRequest)
  }, async request => {
    const { name } = request.params
    if (!isSecretName(name)) throw new HttpError('VALIDATION_ERROR', `The name of a secret must match ${secretNamePattern}`)
    const { value, ...place } = request.body
    const scope = scopeOf(place, principalOf(request))
    const owner = scope.kind === 'tenant' ? scope.tenant : scope.kind === 'key' ? principalOf(request).tenant : undefined
    if (!await stored().put(name, scope, value, owner)) throw new HttpError('CONFLICT', `There are ${maxStoredSecrets} secrets of ${owner === undefined ? 'the operator' : 'this tenant'} already: remove some`)
    request.log.info({ key: principalOf(request).name, secret: name, scope: scope.kind }, 'secrets: stored')
    return { ok: true as const, name }
  })

  app.delete('/secrets/:name', { config: { changes: { action: 'secret.remove' } }, schema: { params, querystring: SecretPlace, response: { 200: SecretAnswer, ...errors } } }, async request => {
    const { name } = request.params
    const scope = scopeOf(request.query, principalOf(request))
    if (!await stored().remove(name, scope)) throw new HttpError('NOT_FOUND', 'There is no such secret')
    request.log.info({ key: principalOf(request).name, secret: name, scope: scope.kind }, 'secrets: removed')
    return { ok: true as const, name }
  })

  app.post('/secrets/rotate', { config: { changes: { action: 'secrets.rotate' } }, schema: { response: { 200: SecretRotation, ...errors } } }, async request => {
    requireOperator(principalOf(request))
    requireUnbound(principalOf(request), 'secrets of others are')
    return { ok: true as const, ...await stored().rotate() }
  })
}

/** A key of a tenant stores for its tenant or itself, one that is bound in some way for itself: calls that it can't make use the others. */
function scopeOf ({ scope, tenant }: SecretPlace, principal: Principal): SecretScope {
  const kind = scope ?? (tenant === undefined && principal.tenant === undefined ? 'operator' : 'tenant')
  if (kind === 'key') {
    if (tenant !== undefined) throw new HttpError('VALIDATION_ERROR', 'tenant has no meaning beside the scope key')
    return { kind, key: principal.name }
  }
  requireUnbound(principal, 'secrets of others are')
  if (kind === 'operator') {
    requireOperator(principal)
    if (tenant !== undefined) throw new HttpError('VALIDATION_ERROR', 'tenant has no meaning beside the scope operator')
    return { kind }
  }
  if (tenant !== undefined && tenant !== principal.tenant) requireOperator(principal)
  const whose = tenant ?? principal.tenant
  if (whose === undefined) throw new HttpError('VALIDATION_ERROR', 'tenant is missing: whose secret is it?')
  return { kind, tenant: whose }
}

/** The operator sees all but those of other keys; who is bound in some way, those that its own calls use. */
function isVisible (scope: SecretScope, principal: Principal): boolean {
  const { name, tenant } = principal
  if (scope.kind === 'key') return scope.key === name
  if (scope.kind === 'tenant') return tenant === undefined ? !isBound(principal) : scope.tenant === tenant
  return tenant === undefined
}

function view ({ name, scope, storedAt, lastUsedAt }: ListedSecret): SecretView {
  return {
    name,
    scope: scope.kind,
    tenant: scope.kind === 'tenant' ? scope.tenant : null,
    key: scope.kind === 'key' ? scope.key : null,
    stored_at: new Date(storedAt).toISOString(),
    last_used_at: lastUsedAt === undefined ? null : new Date(lastUsedAt).toISOString()
  }
}
