import type { HttpErrorCode } from '@toolyard/contract'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { STATUS_CODES, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { newRequestId, requestIdHeader } from './request-id.ts'

/** What Node's parser and its clock find wrong with a connection; all else is no HTTP request. */
const known: Readonly<Record<string, { status: number, message: string }>> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'The request took too long to arrive' },
  HPE_HEADER_OVERFLOW: { status: 431, message: 'The request line and its headers are too long' }
}

/** Answers, as the contract does, to what never becomes a whole request (X28), and closes the connection. */
export class ClientErrors {
  readonly #answers = new WeakMap<Socket, ServerResponse>()
  #log: FastifyBaseLogger | undefined

  /** An answer that has begun must not get another one into it. */
  watch (app: FastifyInstance): void {
    this.#log = app.log
    app.addHook('onRequest', async (request, reply) => { this.#answers.set(request.raw.socket, reply.raw) })
    app.addHook('onResponse', async request => { this.#answers.delete(request.raw.socket) })
  }

  readonly answer = (error: Error & { code?: string }, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || !socket.writable || this.#answers.get(socket)?.headersSent === true) {
      socket.destroy()
      return
    }
    const { status, message } = known[error.code ?? ''] ?? { status: 400, message: 'This is no valid HTTP request' }
    const id = newRequestId()
    this.#log?.info({ reqId: id, status, code: error.code }, 'not a whole request')
    const body = JSON.stringify({ ok: false, error: { code: 'VALIDATION_ERROR' satisfies HttpErrorCode, message, details: {} }, request_id: id })
    const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, 'Content-Type: application/json; charset=utf-8', `Content-Length: ${Buffer.byteLength(body)}`, `${requestIdHeader}: ${id}`, 'Connection: close']
    socket.end([...head, '', body].join('\r\n'))
  }
}
