import { examples } from './examples.ts'
import type { RouteDescription } from './route-description.ts'

const secret = { name: 'github', scope: 'tenant', tenant: 'acme', key: null, stored_at: '2026-11-27T09:00:00.000Z', last_used_at: null }

export const accessDescriptions: Readonly<Record<string, RouteDescription>> = {
  'GET /v1/auth/whoami': {
    id: 'access.whoami',
    tag: 'access',
    summary: 'Read who the key is',
    answers: { 200: { description: 'The key.', example: examples.whoAmI } }
  },
  'POST /v1/auth/sse-token': {
    id: 'access.sse-token',
    tag: 'access',
    summary: 'Make a ticket for event streams',
    description: 'For browsers, which send no header with an event stream. The key must be one that may open event streams.',
    errors: [400, 413, 415],
    body: { job_id: examples.job.id },
    answers: { 200: { description: 'The ticket.', example: examples.ticket } }
  },
  'POST /v1/auth/login': {
    id: 'access.login',
    tag: 'access',
    summary: 'Log in to the console',
    description: 'For the console at /, and from a page of the service alone. The cookie counts beside the header x-toolyard-console.',
    errors: [400, 409, 413, 415, 429],
    body: { key: 'ty_...' },
    answers: { 200: { description: 'The login is in the cookie.', example: { ok: true, name: 'default' } } }
  },
  'POST /v1/auth/logout': {
    id: 'access.logout',
    tag: 'access',
    summary: 'Log out of the console',
    answers: { 200: { description: 'The login of the cookie is over, for all API processes.', example: { ok: true } } }
  },
  'GET /v1/keys': {
    id: 'keys.list',
    tag: 'access',
    summary: 'List the API keys',
    description: 'For keys without a tenant that are bound to nothing. No answer but that of making a key has the key itself.',
    answers: { 200: { description: 'Those of the settings and those in Redis.', example: { ok: true, keys: [examples.key], count: 1 } } }
  },
  'POST /v1/keys': {
    id: 'keys.make',
    tag: 'access',
    summary: 'Make an API key',
    description: 'For keys without a tenant that are bound to nothing. All processes take the new key at once.',
    errors: [400, 409, 413, 415],
    body: { name: 'acme-app', role: 'admin', tenant: 'acme', expires_in_sec: 86_400 },
    answers: { 201: { description: 'The key, shown once.', example: { ok: true, key: { ...examples.key, key: 'ty_...' } } } }
  },
  'GET /v1/secrets': {
    id: 'secrets.list',
    tag: 'access',
    summary: 'List the secrets that tools use',
    description: 'The operator sees his own and those of tenants, a tenant its own; each key also what was stored for it. Never values.',
    errors: [409],
    answers: { 200: { description: 'Names, whose they are, and when they were used.', example: { ok: true, secrets: [secret], count: 1 } } }
  },
  'PUT /v1/secrets/:name': {
    id: 'secrets.put',
    tag: 'access',
    summary: 'Store a secret that tools use',
    description: 'The value is sealed with SECRETS_KEY and never read back. A secret of the same name and scope is replaced.',
    errors: [400, 409, 413, 415],
    body: { value: 'ghp_...', scope: 'tenant', tenant: 'acme' },
    answers: { 200: { description: 'Calls use it from now on.', example: { ok: true, name: 'github' } } }
  },
  'DELETE /v1/secrets/:name': {
    id: 'secrets.remove',
    tag: 'access',
    summary: 'Remove a secret',
    description: 'No call uses it from now on; calls that have it go on.',
    errors: [400, 404, 409],
    answers: { 200: { description: 'It is gone.', example: { ok: true, name: 'github' } } }
  },
  'POST /v1/secrets/rotate': {
    id: 'secrets.rotate',
    tag: 'access',
    summary: 'Seal all secrets with the current key',
    description: 'For keys without a tenant: seals with SECRETS_KEY what SECRETS_KEY_PREVIOUS has sealed.',
    errors: [409],
    answers: { 200: { description: 'How many were sealed anew, and how many no key opens.', example: { ok: true, sealed: 3, lost: 0 } } }
  },
  'DELETE /v1/keys/:name': {
    id: 'keys.revoke',
    tag: 'access',
    summary: 'Revoke an API key',
    description: 'For keys without a tenant that are bound to nothing. A key of the settings is taken out there.',
    errors: [404, 409],
    answers: { 200: { description: 'The key is worth nothing any more.', example: { ok: true, name: 'acme-app' } } }
  }
}
