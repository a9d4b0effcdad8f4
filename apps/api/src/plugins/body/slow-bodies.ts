import type { IncomingMessage, Server } from 'node:http'

/** Time for a client to send its whole request, in milliseconds, where the route doesn't say otherwise. */
const mostMs = 30_000
/** A body that may take as long as it likes, as long as some of it comes within this time while it is waited for, in milliseconds. */
const idleMs = 30_000

/**
 * Time for a client to send its whole request: a body that never ends holds no connection. Node's own time is one for
 * all requests; here files may take longer.
 */
export class SlowBodies {
  readonly #server: Server
  readonly #timers = new WeakMap<IncomingMessage, NodeJS.Timeout>()

  constructor (server: Server) {
    this.#server = server
    server.prependListener('request', (request: IncomingMessage) => {
      const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
      if ((length === undefined || length === '0') && encoding === undefined) return
      this.#within(request, mostMs)
      request.once('close', () => { clearTimeout(this.#timers.get(request)) })
    })
  }

  /**
   * Lets the body of a request take its time from now on. What is returned is called when some of it is waited for, and what that gives
   * when it has come: the time that the service itself takes is not its client's.
   */
  allow (request: IncomingMessage): () => () => void {
    const rest = (): void => { clearTimeout(this.#timers.get(request)) }
    rest()
    return () => {
      this.#within(request, idleMs)
      return rest
    }
  }

  /** From now on nobody reads the body: what comes of it is dropped, for as long as any other may take. */
  drop (request: IncomingMessage): void {
    if (request.complete) return
    this.#within(request, mostMs)
    request.resume()
  }

  #within (request: IncomingMessage, ms: number): void {
    clearTimeout(this.#timers.get(request))
    this.#timers.set(request, setTimeout(() => {
      if (request.complete || request.destroyed) return
      this.#server.emit('clientError', Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), request.socket)
      request.socket.destroySoon()
    }, ms).unref())
  }
}
