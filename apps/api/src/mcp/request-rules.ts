import { HttpError } from '@toolyard/contract/terms'
import { onAbort, sharedAbort } from '@toolyard/runtime'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isForLoopback, isOwnOrigin } from '../plugins/site.ts'
import type { AcceptedTypes } from '../streams/accepted-types.ts'
import { rpcCodes, RpcHttpError } from './call/rpc-error.ts'

export interface ConsolePlace {
  /** The URL of `/mcp` as clients know it; undefined where the operator has not said it. */
  mcpUrl: string | undefined
  basePath: string
}

/**
 * Where the console shows a held job. A client that came by a name of its own machine finds the console there too. What a
 * `Host` says otherwise is no address to send people to.
 */
export function approvalUrls (request: FastifyRequest, { mcpUrl, basePath }: ConsolePlace): (jobId: string) => string | undefined {
  const own = isForLoopback(request) ? `${request.protocol}://${request.host}${basePath}` : undefined
  const base = mcpUrl?.replace(/\/mcp\/*$/, '') ?? own
  return jobId => base === undefined ? undefined : `${base}/#/approvals/${jobId}`
}

/** No site may use a browser for this, whatever it knows (the protocol asks for it). */
export function refuseForeignOrigin (request: FastifyRequest): void {
  const { origin } = request.headers
  if (origin !== undefined && !isOwnOrigin(origin, request)) {
    throw new HttpError(
      'FORBIDDEN', 'No other site may use the service. Behind a reverse proxy, have it forward the Host header.'
    )
  }
}

export function requireAccepted ({ json, stream }: AcceptedTypes, isListen: boolean): void {
  if (stream || (json && !isListen)) return
  throw new RpcHttpError(406, rpcCodes.refused, isListen
    ? 'Not Acceptable: subscriptions/listen is answered by a stream, the client must accept text/event-stream'
    : 'Not Acceptable: the client must accept application/json, text/event-stream or both')
}

/** Aborts when the client went away, or when nothing is to be answered any more. */
export function absence ({ raw }: FastifyReply): { gone: AbortSignal, leave: () => void } {
  const abort = sharedAbort()
  // Who has left already will not leave again.
  if (raw.destroyed) abort.abort()
  else raw.once('close', () => { if (!raw.writableFinished) abort.abort() })
  return { gone: abort.signal, leave: () => { abort.abort() } }
}

/** Aborts when the client went away or the process stops. */
export function untilStop (gone: AbortSignal, stopping: AbortSignal, { raw }: FastifyReply): AbortSignal {
  const abort = new AbortController()
  raw.once('close', onAbort([gone, stopping], () => { abort.abort() }))
  return abort.signal
}

export async function aborted (signal: AbortSignal): Promise<undefined> {
  await new Promise(resolve => { onAbort(signal, resolve) })
}

export function notAllowed (reply: FastifyReply, allow: string, message: string): RpcHttpError {
  void reply.header('allow', allow)
  return new RpcHttpError(405, rpcCodes.refused, message)
}
