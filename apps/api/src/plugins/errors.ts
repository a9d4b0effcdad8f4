import { HttpError, type ErrorBody, type HttpErrorCode } from '@toolyard/contract'
import { JobsUnknownError, RedisUnavailableError } from '@toolyard/store'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Static } from 'typebox'
import { nameAnswer } from './request-id.ts'
import { whenRead } from './body/unread-body.ts'

const knownErrors: Readonly<Record<string, () => HttpError>> = {
  // A part of the request may be done by now.
  ERR_WORKER_INIT_FAILED: () => new HttpError('UNAVAILABLE', 'This API process can start no thread: its machine or container allows it no more processes, or has no memory for one', { may_exist: true }),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => new HttpError('UNSUPPORTED_MEDIA_TYPE', 'The request body must be sent as application/json: send the header content-type: application/json'),
  FST_ERR_NOT_FOUND: () => new HttpError('NOT_FOUND', 'No such route')
}

/** Answered as `Retry-After` where nothing better is known. */
export const retryAfterSec = 1
const retryable = new Set<string>(['UNAVAILABLE', 'RATE_LIMITED'] satisfies HttpErrorCode[])

/** Every error becomes the contract's JSON body; what isn't foreseen is logged and tells nothing. */
export const errors = fp(async (app: FastifyInstance, { routes }: { routes: ReadonlyArray<{ method: string, url: string }> }) => {
  app.setErrorHandler((error: FastifyError, request, reply) => { sendError(error, request, reply) })
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0]?.slice(0, 200) ?? ''
    const methods = new Set(routes.filter(({ url }) => isOfRoute(path, url)).map(({ method }) => method))
    const taken = methods.size === 0 ? '' : `; this path takes ${[...methods].join(', ')}`
    sendError(new HttpError('NOT_FOUND', `No route ${request.method} ${path}${taken}`), request, reply)
  })
}, { name: 'errors' })

function isOfRoute (path: string, url: string): boolean {
  const [parts, wanted] = [path.split('/'), url.split('/')]
  const isOpen = wanted.at(-1) === '*'
  return (isOpen ? parts.length >= wanted.length : parts.length === wanted.length) &&
    wanted.every((part, at) => part === '*' || part === parts[at] || (part.startsWith(':') && parts[at] !== ''))
}

/** Answers with an error; for errors that Fastify meets before its handlers stand, too. */
export function sendError (error: Error, request: FastifyRequest, reply: FastifyReply): void {
  const known = toHttpError(error)
  if (known.code === 'INTERNAL') request.log.error({ err: error }, 'request failed')
  if (retryable.has(known.code) && !reply.hasHeader('retry-after')) void reply.header('retry-after', retryAfterSec)
  // Fastify would close the connection, and who is still sending would get no answer.
  if (known.code === 'PAYLOAD_TOO_LARGE') void reply.removeHeader('connection')
  const body: Static<typeof ErrorBody> = {
    ok: false,
    error: { code: known.code, message: known.message, ...(known.details === undefined ? {} : { details: known.details }) },
    request_id: request.id
  }
  nameAnswer(reply.raw, request.id)
  void reply.code(known.status).header('content-type', 'application/json; charset=utf-8').serializer(JSON.stringify)
  whenRead(request, () => { void reply.send(body) })
}

export function toHttpError (error: Error & Partial<Pick<FastifyError, 'code' | 'statusCode' | 'validation'>>): HttpError {
  if (error instanceof HttpError) return error
  if (error instanceof JobsUnknownError) return new HttpError('UNAVAILABLE', error.message, { may_exist: true })
  if (error instanceof RedisUnavailableError) return new HttpError('UNAVAILABLE', error.message)
  const known = knownErrors[error.code ?? '']
  if (known !== undefined) return known()
  if (error.validation !== undefined) return new HttpError('VALIDATION_ERROR', validationText(error.validation))
  const status = error.statusCode ?? 500
  if (status === 404) return new HttpError('NOT_FOUND', 'No such route')
  if (status >= 400 && status < 500) return new HttpError('VALIDATION_ERROR', error.message)
  return new HttpError('INTERNAL', 'The service met a fault; its log has it under the request id')
}

/** Names the first parameter or field that doesn't fit its schema, and what it may be. */
function validationText ([first]: NonNullable<FastifyError['validation']>): string {
  const { instancePath = '', message = 'does not fit', params: { allowedValues } = {} } = first ?? {}
  const may = Array.isArray(allowedValues) ? `must be one of: ${allowedValues.join(', ')}` : message
  return instancePath === '' ? `The request ${may}` : `'${instancePath.slice(1).replaceAll('/', '.')}' ${may}`
}
