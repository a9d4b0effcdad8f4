import { createServer, request } from 'node:http'
import type { Cleanup } from '../support/cleanup.ts'
import { listening } from '../support/listening.ts'

/** Starts a reverse proxy that serves `target` below a path, which it takes off; the address with the path. */
export async function startProxy (cleanup: Cleanup, target: string, path: string): Promise<string> {
  const server = createServer((incoming, outgoing) => {
    if (incoming.url?.startsWith(`${path}/`) !== true) return outgoing.writeHead(404).end()
    const forwarded = request(target + incoming.url.slice(path.length), { method: incoming.method, headers: incoming.headers }, answer => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    forwarded.on('error', () => { outgoing.destroy() })
    incoming.pipe(forwarded)
  })
  return `http://127.0.0.1:${await listening(cleanup, server)}${path}`
}
