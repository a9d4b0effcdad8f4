import { HttpError, type HttpErrorCode } from '@toolyard/contract'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { newRequestId, requestIdHeader } from './request-id.ts'

interface Fault { status: number, message: string }

/** Faults that Node's parser and its clock find in a connection; all else is no HTTP request. */
const known: Readonly<Record<string, Fault>> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'The request took too long to arrive' },
  HPE_HEADER_OVERFLOW: { status: 431, message: 'The request line and its headers are too long' }
}
const badExpectation: Fault = { status: 417, message: 'The header Expect may only ask for 100-continue' }

/** Node would answer to a request without a host by itself, with nothing: `watch` does in its place. */
export const hostIsOptional = { requireHostHeader: false }

/** Answers, as the contract does, to what never becomes a whole request, and closes the connection. */
export class ClientErrors {
  readonly #answers = new WeakMap<Socket, ServerResponse>()
  #log: FastifyBaseLogger | undefined

  /** An answer that has begun must not get another one into it. */
  watch (app: FastifyInstance): void {
    this.#log = app.log
    app.server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
      const { headers, body } = this.#refusal(badExpectation, 'Expect')
      response.writeHead(badExpectation.status, headers).end(body)
    })
    app.addHook('onRequest', async (request, reply) => {
      this.#answers.set(request.raw.socket, reply.raw)
      const { headers, httpVersion } = request.raw
      if (headers.host !== undefined || httpVersion !== '1.1') return
      void reply.header('connection', 'close')
      throw new HttpError('VALIDATION_ERROR', 'The header Host is missing')
    })
    app.addHook('onResponse', async request => { this.#answers.delete(request.raw.socket) })
  }

  readonly answer = (error: Error & { code?: string }, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || !socket.writable || this.#answers.get(socket)?.headersSent === true) {
      socket.destroy()
      return
    }
    const fault = known[error.code ?? ''] ?? { status: 400, message: 'This is no valid HTTP request' }
    const { headers, body } = this.#refusal(fault, error.code)
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
    socket.end([`HTTP/1.1 ${fault.status} ${STATUS_CODES[fault.status]}`, ...lines, '', body].join('\r\n'))
  }

  #refusal ({ status, message }: Fault, code: string | undefined): { headers: Record<string, string>, body: string } {
    const id = newRequestId()
    this.#log?.info({ reqId: id, status, code }, 'not a whole request')
    const body = JSON.stringify({ ok: false, error: { code: 'VALIDATION_ERROR' satisfies HttpErrorCode, message, details: {} }, request_id: id })
    const headers = {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': String(Buffer.byteLength(body)),
      [requestIdHeader]: id,
      Connection: 'close'
    }
    return { headers, body }
  }
}
