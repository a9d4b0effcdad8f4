import { ChangeList, ErrorBody, HttpError } from '@toolyard/contract'
import { Type } from '@toolyard/contract/type'
import type { ChangeTrail } from '@toolyard/store'
import { principalOf } from '../../access/principal.ts'
import type { App } from '../../plugins/typed-app.ts'

const query = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
  cursor: Type.Optional(Type.String({ pattern: '^\\d{1,15}-\\d{1,15}$', description: '`next_cursor` of the page before.' }))
}, { additionalProperties: false })

/** Who has changed what by the API. Admins of a tenant see the changes of its keys. */
export async function changeRoutes (app: App, { changes }: { changes: ChangeTrail }): Promise<void> {
  app.get('/audit', {
    config: { role: 'admin' },
    schema: { querystring: query, response: { 200: ChangeList, '4xx': ErrorBody, '5xx': ErrorBody } },
    // A query is texts; the message says what each may be.
    validatorCompiler: () => (value: unknown) => ({ value })
  }, async request => {
    const { limit: text = 50, cursor } = request.query
    const limit = /^\d{1,3}$/.test(String(text)) ? Number(text) : 0
    if (limit < 1 || limit > 200) throw new HttpError('VALIDATION_ERROR', "'limit' must be an integer 1..200")
    if (cursor !== undefined && !/^\d{1,15}-\d{1,15}$/.test(cursor)) throw new HttpError('VALIDATION_ERROR', "'cursor' must be the next_cursor of a page before")
    const found = await changes.list({ tenant: principalOf(request).tenant, limit: limit + 1, before: cursor })
    const shown = found.slice(0, limit)
    return {
      ok: true as const,
      changes: shown.map(({ id, at, key, tenant = null, action, target = null, about = {}, request: made }) => (
        { id, at: new Date(at).toISOString(), key, tenant, action, target, about, request: made }
      )),
      next_cursor: found.length > limit ? shown.at(-1)?.id ?? null : null
    }
  })
}
