import type { FastifyInstance, FastifyRequest } from 'fastify'

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i

/**
 * Whether a request is for a name that is this machine's own: a site may give itself one that leads here. Its
 * `Host` counts as well as what a proxy tells: a page can send `X-Forwarded-Host` itself, and no other `Host` than its own.
 */
export function isForLoopback ({ host, headers }: FastifyRequest): boolean {
  return loopback.test(host) && loopback.test(headers.host ?? '')
}

/** Whether an `Origin` header names the service that the request is for. */
export function isOwnOrigin (origin: string, { host }: FastifyRequest): boolean {
  return URL.canParse(origin) && new URL(origin).host === host
}

/** The address that the service listens on, as clients on this machine have it. */
export function listenedAt (app: Pick<FastifyInstance, 'server'>): string {
  const address = app.server.address()
  if (typeof address !== 'object' || address === null) return 'http://localhost'
  return `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`
}

/** The path of a request line that has the whole address, as one to a proxy has (RFC 9112, 3.2.2); any other as it is. */
export function pathOf (url: string): string {
  const [address] = /^https?:\/\/[^/?#]*/i.exec(url) ?? []
  if (address === undefined) return url
  const path = url.slice(address.length)
  return path.startsWith('/') ? path : `/${path}`
}

/** A URL without the path under which a reverse proxy serves the service; as it is when it has none. */
export function withoutBase (url: string, base: string): string {
  const rest = url.startsWith(base) ? url.slice(base.length) : undefined
  if (rest === undefined || !/^(?:$|[/?])/.test(rest)) return url
  return rest.startsWith('/') ? rest : `/${rest}`
}

/** Addresses of MCP as people put them together, with slashes too many; any other URL as it is. */
export function mcpUrl (url: string): string {
  return url.replace(/^\/+mcp\/*(?=$|\?)/, '/mcp')
}
