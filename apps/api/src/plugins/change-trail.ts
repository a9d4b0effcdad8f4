import { isRecord } from '@toolyard/contract'
import { RedisUnavailableError, type Change, type ChangeTrail } from '@toolyard/store'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyRequest {
    /** Redis didn't say what became of it: its change may have been made. */
    isUnsure: boolean
  }
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
 * Keeps who has changed what, and what may have been changed though the request was answered 503. A change that can't be kept is
 * made all the same, and the log has it.
 */
export const changeTrail = fp<{ trail: ChangeTrail }>(async (app: FastifyInstance, { trail }) => {
  app.decorateRequest('isUnsure', false)
  app.addHook('onError', async (request, _reply, error: Error) => { request.isUnsure = error instanceof RedisUnavailableError })
  app.addHook('onResponse', async (request, reply) => {
    const { changes } = request.routeOptions.config
    if (changes === undefined || (reply.statusCode >= 400 && !request.isUnsure) || request.principal == null) return
    const change = changeOf(request, changes)
    await trail.add(change).catch((error: unknown) => { request.log.warn({ err: error, change }, 'a change could not be kept in the audit') })
  })
}, { name: 'change-trail' })

function changeOf ({ params, body, id, principal, isUnsure }: FastifyRequest, { action, fields = [] }: ChangingRoute): Change {
  const { id: target, name = isRecord(body) ? body['name'] : undefined } = isRecord(params) ? params : {}
  const about = fields.flatMap((field): Array<[string, string | number | boolean]> => {
    const value = isRecord(body) ? body[field] : undefined
    if (typeof value === 'number' || typeof value === 'boolean') return [[field, value]]
    const text = typeof value === 'string' ? value : isRecord(value) || Array.isArray(value) ? JSON.stringify(value) : undefined
    return text === undefined ? [] : [[field, text.slice(0, textChars)]]
  })
  if (isUnsure) about.push(['answered', 503])
  const of = target ?? name
  return {
    key: principal?.name ?? '',
    ...(principal?.tenant === undefined ? {} : { tenant: principal.tenant }),
    action,
    ...(typeof of === 'string' ? { target: of.slice(0, textChars) } : {}),
    ...(about.length === 0 ? {} : { about: Object.fromEntries(about) }),
    request: id
  }
}
