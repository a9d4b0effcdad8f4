import type { HttpErrorCode } from '@toolyard/contract'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'

/** What Node's parser and its clock find wrong with a connection; all else is no HTTP request. */
const known: Readonly<Record<string, { status: number, message: string }>> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'The request took too long to arrive' },
  HPE_HEADER_OVERFLOW: { status: 431, message: 'The request line and its headers are too long' }
}

/** Answers, as the contract does, to what never becomes a request (X28), and closes the connection. */
export function answerClientError (error: Error & { code?: string }, socket: Socket): void {
  // A client that went away, or has an answer already, gets none.
  if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesWritten > 0) {
    socket.destroy()
    return
  }
  const { status, message } = known[error.code ?? ''] ?? { status: 400, message: 'This is no valid HTTP request' }
  const body = JSON.stringify({ ok: false, error: { code: 'VALIDATION_ERROR' satisfies HttpErrorCode, message, details: {} } })
  const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, 'Content-Type: application/json; charset=utf-8', `Content-Length: ${Buffer.byteLength(body)}`, 'Connection: close']
  socket.end([...head, '', body].join('\r\n'))
}
