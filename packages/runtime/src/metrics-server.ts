import { createServer } from 'node:http'
import type { Registry } from 'prom-client'

/** Serves `/metrics` on a port of its own, without a key; `close` ends it. Port 0 takes a free one. */
export async function serveMetrics (registry: Registry, host: string, port: number): Promise<{ port: number, close: () => Promise<void> }> {
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url?.split('?', 1)[0] !== '/metrics') {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('Only GET /metrics is here.\n')
      return
    }
    registry.metrics().then(
      text => { response.writeHead(200, { 'content-type': registry.contentType }).end(text) },
      () => { response.writeHead(500).end() }
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
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
