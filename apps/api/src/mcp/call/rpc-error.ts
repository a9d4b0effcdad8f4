import type { HttpError, HttpErrorCode } from '@toolyard/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { retryAfterSec, toHttpError } from '../../plugins/errors.ts'
import { whenRead } from '../../plugins/body/unread-body.ts'

/** JSON-RPC's own codes, and those that the specification leaves to servers. */
export const rpcCodes = {
  parse: -32_700, invalidRequest: -32_600, invalidParams: -32_602, internal: -32_603, refused: -32_000, noSession: -32_001
} as const

export class RpcHttpError extends Error {
  readonly status: number
  readonly code: number

  constructor (status: number, code: number, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

export function invalidRequest (message: string): RpcHttpError {
  return new RpcHttpError(400, rpcCodes.invalidRequest, message)
}

const retryable = new Set<HttpErrorCode>(['UNAVAILABLE', 'RATE_LIMITED'])

/** Refuses a request before the protocol's own code sees it, as clients of the protocol read it. */
export function sendRpcError (error: Error, request: FastifyRequest, reply: FastifyReply): void {
  const { status, code, message, data } = error instanceof RpcHttpError
    ? {
        status: error.status, code: error.code, message: error.message, data: {}
      }
    : described(toHttpError(error))
  if (code === rpcCodes.internal) request.log.error({ err: error }, 'request failed')
  if (
    retryable.has((data as { code?: HttpErrorCode }).code ?? 'INTERNAL') && !reply.hasHeader('retry-after')
  ) void reply.header('retry-after', retryAfterSec)
  if (status === 413) void reply.removeHeader('connection')
  const body = rpcError(request, { code, message, data })
  void reply.code(status).header('content-type', 'application/json; charset=utf-8').serializer(JSON.stringify)
  whenRead(request, () => { void reply.send(body) })
}

/** The answer to a request that failed. */
export function rpcError (request: FastifyRequest, { code, message, data }: { code: number, message: string, data: object }): object {
  return { jsonrpc: '2.0', error: { code, message, data: { ...data, request_id: request.id } }, id: idOf(request.body) }
}

/** An error of the service as JSON-RPC has it. */
export function described ({ status, code, message, details }: HttpError): { status: number, code: number, message: string, data: object } {
  const rpcCode = code === 'INTERNAL' ? rpcCodes.internal : code === 'VALIDATION_ERROR' ? rpcCodes.parse : rpcCodes.refused
  return { status, code: rpcCode, message, data: { code, ...(details === undefined ? {} : { details }) } }
}

/** The id of a body that is one request; null where it was not read, or is something else. */
function idOf (body: unknown): string | number | null {
  const id = typeof body === 'object' && body !== null && 'method' in body && 'id' in body ? body.id : null
  return typeof id === 'string' || typeof id === 'number' ? id : null
}
