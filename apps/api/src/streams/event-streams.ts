import { HttpError } from '@toolyard/contract'
import { mapInTurns } from '@toolyard/runtime'
import type { FastifyReply } from 'fastify'
import type { KeyRing } from '../access/key-ring.ts'
import type { Principal } from '../access/principal.ts'
import { EventStream } from './event-stream.ts'
import { commentFrame } from './frame.ts'

export interface EventStreamOptions {
  max: number
  heartbeatMs: number
  /** A stream lasts no longer than its key, or its token. */
  keys: KeyRing
}

const keyGoneFrame = commentFrame('the key or token of this stream opens nothing any more')

/** All event streams of an API process: their number, and one clock for their heartbeats. */
export class EventStreams {
  readonly #options: EventStreamOptions
  readonly #open = new Map<EventStream, Principal | null>()
  /** Streams that end with a call: the limits of jobs bound them. */
  readonly #calls = new Set<EventStream>()
  #timer: NodeJS.Timeout | undefined

  constructor (options: EventStreamOptions) {
    this.#options = options
    options.keys.onRevoked(() => { void this.endRevoked() })
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
    const stream = this.#begin(reply, stream => { this.#open.delete(stream) })
    if (!stream.isClosed) this.#open.set(stream, reply.request.principal)
    return stream
  }

  /** The same for the answer of one call, which is not counted. */
  openCall (reply: FastifyReply): EventStream {
    const stream = this.#begin(reply, stream => { this.#calls.delete(stream) })
    if (!stream.isClosed) this.#calls.add(stream)
    return stream
  }

  /**
   * Ends the streams whose key has been revoked, or whose key or token is over; a call goes on to its end. While Redis is
   * away, nobody with a key is sent away.
   */
  async endRevoked (): Promise<void> {
    const asked = new Map<string, Promise<boolean>>()
    await Promise.all([...this.#open].map(async ([stream, principal]) => {
      if (principal === null) return
      if (principal.endsAt !== undefined && principal.endsAt <= Date.now()) return stream.end(keyGoneFrame)
      const staying = asked.get(principal.proof) ?? this.#options.keys.opensStill(principal).catch(() => true)
      asked.set(principal.proof, staying)
      if (!await staying) stream.end(keyGoneFrame)
    }))
  }

  #begin (reply: FastifyReply, remove: (stream: EventStream) => void): EventStream {
    reply.hijack()
    const stream = new EventStream(reply.raw)
    // A client that has left meanwhile will not leave again.
    if (reply.raw.destroyed) return stream
    reply.raw.once('close', () => { remove(stream) })
    this.#timer ??= setInterval(() => { this.#beat() }, this.#options.heartbeatMs).unref()
    return stream
  }

  #beat (): void {
    if (this.#open.size + this.#calls.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
    }
    void mapInTurns([...this.#open.keys(), ...this.#calls], stream => { stream.beat() })
    void this.endRevoked()
  }
}
