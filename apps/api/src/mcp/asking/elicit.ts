import { isRecord } from '@toolyard/contract/terms'
import { randomUUID } from 'node:crypto'
import type { ClientRequest } from './forms.ts'
import type { OpenRequests } from './open-requests.ts'

/*
 * Questions to clients of 2025: a request on the stream of their call. The answer comes as a message of its own, to any process,
 * which tells the others.
 */

/** A client of 2025 with an open call. */
export interface AskedClient {
  session: string
  /** Questions of this process. */
  open: OpenRequests<unknown>
  /** Writes a message into the stream of the call. */
  send: (message: object) => Promise<void>
}

const idPattern = /^ask-[\da-f-]{36}$/

/** A message that answers what a client was asked; undefined for any other. */
export function answerIn (message: unknown): { request: string, said: unknown } | undefined {
  if (!isRecord(message) || message['method'] !== undefined) return undefined
  const { id, result, error } = message
  if (typeof id !== 'string' || !idPattern.test(id)) return undefined
  return { request: id, said: isRecord(result) && error === undefined ? result : null }
}

export interface Elicitation {
  /** Null where the client can't ask. */
  said: Promise<unknown>
  /** Nobody has to answer any more. */
  withdraw: () => Promise<void>
  /** Call it when the page has done its work. */
  complete: () => Promise<void>
  close: () => void
}

/** Asks a client. Nothing is waited for once it is closed. */
export function elicit ({ session, open, send }: AskedClient, { method, params }: ClientRequest): Elicitation {
  const id = `ask-${randomUUID()}`
  const { mode, ...rest }: Record<string, unknown> = { ...params }
  // Clients of 2025-06-18 know no modes: without one it is a form.
  const asked = mode === 'url' ? { mode, elicitationId: id, ...rest } : rest
  let close = (): void => {}
  const said = new Promise<unknown>(resolve => { close = open.add(session, id, resolve) })
  const tell = async (name: string, about: object): Promise<void> => {
    // A stream that is gone tells nobody.
    await send({ jsonrpc: '2.0', method: `notifications/${name}`, params: about }).catch(() => {})
  }
  send({ jsonrpc: '2.0', id, method, params: asked }).catch(() => {})
  return {
    said,
    withdraw: async () => { await tell('cancelled', { requestId: id, reason: 'It was answered elsewhere' }) },
    complete: async () => { if (mode === 'url') await tell('elicitation/complete', { elicitationId: id }) },
    close
  }
}
