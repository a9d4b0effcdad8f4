import { firstChars } from '@toolyard/contract/terms'
import { isRecord } from '@toolyard/contract'
import type { Change, ChangeTrail } from '@toolyard/store'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The change that a request makes: it is kept with the name of its key, once it was answered. */
    changes?: ChangingRoute
  }
}

interface ChangingRoute {
  /** Such as `queue.switch`. */
  action: string
  /** Fields of the body that are kept too. None of them may hold arguments, outputs or secrets. */
  fields?: readonly string[]
}

/** The most characters of a text that are kept. */
const textChars = 200

/**
 * Keeps who has changed what, and what may have been changed: a request that is answered 503 or 500 may have been heard. A change that
 * can't be kept is made all the same, and the log has it.
 */
export const changeTrail = fp<{ trail: ChangeTrail }>(async (app: FastifyInstance, { trail }) => {
  app.addHook('onResponse', async (request, reply) => {
    const { changes } = request.routeOptions.config
    if (changes === undefined || isRefused(reply) || request.principal == null) return
    const about = reply.statusCode < 400 ? {} : { answered: reply.statusCode }
    const change = changeOf(request, changes, about)
    await trail.add(change).catch((error: unknown) => { request.log.warn({ err: error, change }, 'a change could not be kept in the audit') })
  })
}, { name: 'change-trail' })

function isRefused ({ statusCode }: FastifyReply): boolean {
  return statusCode >= 400 && statusCode < 500
}

function changeOf (
  { params, body, id, principal }: FastifyRequest, { action, fields = [] }: ChangingRoute, more: Record<string, number>
): Change {
  const { id: target, name = isRecord(body) ? body['name'] : undefined } = isRecord(params) ? params : {}
  const said = fields.flatMap((field): Array<[string, string | number | boolean]> => {
    const value = isRecord(body) ? body[field] : undefined
    if (typeof value === 'number' || typeof value === 'boolean') return [[field, value]]
    const text = typeof value === 'string' ? value : isRecord(value) || Array.isArray(value) ? JSON.stringify(value) : undefined
    return text === undefined ? [] : [[field, firstChars(text, textChars)]]
  })
  const about = { ...Object.fromEntries(said), ...more }
  const of = target ?? name
  return {
    key: principal?.name ?? '',
    ...(principal?.tenant === undefined ? {} : { tenant: principal.tenant }),
    action,
    ...(typeof of === 'string' ? { target: firstChars(of, textChars) } : {}),
    ...(Object.keys(about).length === 0 ? {} : { about }),
    request: id
  }
}
