import { HttpError } from '@toolyard/contract'
import type { FastifyReply } from 'fastify'
import { EventStream } from './event-stream.ts'

/** How the streams of a process are kept. */
export interface EventStreamOptions {
  /** Streams that may be open at once. */
  max: number
  heartbeatMs: number
}

/** All event streams of an API process: their number, and one clock for their heartbeats. */
export class EventStreams {
  readonly #options: EventStreamOptions
  readonly #open = new Set<EventStream>()
  /** Streams that end with a call: the limits of jobs bound them. */
  readonly #calls = new Set<EventStream>()
  #timer: NodeJS.Timeout | undefined

  constructor (options: EventStreamOptions) {
    this.#options = options
  }

  /** How many are open now, beside those of calls. */
  get size (): number {
    return this.#open.size
  }

  /** @throws HttpError `UNAVAILABLE` when as many are open as may be. */
  requireRoom (): void {
    if (this.#open.size >= this.#options.max) {
      throw new HttpError('UNAVAILABLE', `This API process holds ${this.#options.max} event streams, the most that MAX_STREAMS allows`)
    }
  }

  /** Takes the response over from Fastify; call `requireRoom` before. */
  open (reply: FastifyReply): EventStream {
    return this.#add(reply, this.#open)
  }

  /** The same for the answer of one call, which is not counted. */
  openCall (reply: FastifyReply): EventStream {
    return this.#add(reply, this.#calls)
  }

  #add (reply: FastifyReply, streams: Set<EventStream>): EventStream {
    reply.hijack()
    const stream = new EventStream(reply.raw)
    // A client that has left meanwhile will not leave again.
    if (reply.raw.destroyed) return stream
    streams.add(stream)
    reply.raw.once('close', () => { streams.delete(stream) })
    this.#timer ??= setInterval(() => { this.#beat() }, this.#options.heartbeatMs)
    return stream
  }

  #beat (): void {
    if (this.#open.size + this.#calls.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
    }
    for (const stream of [...this.#open, ...this.#calls]) stream.beat()
  }
}
