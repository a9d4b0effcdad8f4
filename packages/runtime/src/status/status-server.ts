import type { Ready } from '@toolyard/contract'
import { createServer, type ServerResponse } from 'node:http'
import { takeTurns } from '../reading/connection-turns.ts'
import { listenFailure } from './listen-failure.ts'
import { dropUnread } from './unread-answers.ts'

/** Served on a port of its own, without a key. */
export interface StatusSource {
  metrics: () => Promise<string>
  contentType: string
  readiness: () => Promise<Ready>
}

/**
 * Serves `/metrics`, `/health` and `/ready` on a port of its own, that of `METRICS_PORT`; `close` ends it. Port 0 takes a free one.
 *
 * @throws Error that names the setting when the port can't be listened on.
 */
export async function serveStatus (
  source: StatusSource, host: string, port: number
): Promise<{ port: number, close: () => Promise<void> }> {
  const metrics = shared(async () => Buffer.from(await source.metrics()))
  const routes: Readonly<Record<string, (response: ServerResponse) => Promise<void>>> = {
    '/metrics': async response => { response.setHeader('content-type', source.contentType).end(await metrics()) },
    '/health': async response => { sendJson(response, 200, { ok: true }) },
    '/ready': async response => {
      const ready = await source.readiness()
      sendJson(response, ready.ok ? 200 : 503, ready)
    }
  }
  const server = createServer((request, response) => {
    const isReading = request.method === 'GET' || request.method === 'HEAD'
    const route = isReading ? routes[request.url?.split('?', 1)[0] ?? ''] : undefined
    if (route === undefined) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('Only GET /metrics, /health and /ready are here.\n')
      return
    }
    route(response).catch(() => { response.writeHead(500).end() })
  })
  takeTurns(server)
  dropUnread(server)
  await new Promise<void>((resolve, reject) => {
    server.once('error', error => { reject(listenFailure(error, { host, port, setting: 'METRICS_PORT' })) })
    server.listen(port, host, resolve)
  })
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    close: async () => {
      server.closeAllConnections()
      await new Promise<void>(resolve => { server.close(() => { resolve() }) })
    }
  }
}

/** Callers that come while a value is being made get that value: making it takes the event loop, and each copy takes memory. */
function shared<T> (make: () => Promise<T>): () => Promise<T> {
  let making: Promise<T> | undefined
  return async () => await (making ??= make().finally(() => { making = undefined }))
}

function sendJson (response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body))
}
