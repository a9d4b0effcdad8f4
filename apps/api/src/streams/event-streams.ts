import { HttpError } from '@toolyard/contract'
import { mapInTurns } from '@toolyard/runtime'
import type { FastifyReply } from 'fastify'
import { holdAnswer, refusalOf } from '../plugins/load/unsent-answers.ts'
import type { KeyRing } from '../access/key-ring.ts'
import { KeyWatch } from '../access/key-watch.ts'
import { EventStream } from './event-stream.ts'
import { commentFrame } from './frame.ts'

interface EventStreamOptions {
  max: number
  heartbeatMs: number
  /** A stream lasts no longer than its key, or its token. */
  keys: KeyRing
}

const keyGoneFrame = commentFrame('the key or token of this stream opens nothing any more')

/** All event streams of an API process: their number, and one clock for their heartbeats. */
export class EventStreams {
  readonly #options: EventStreamOptions
  readonly #keyWatch: KeyWatch
  readonly #open = new Set<EventStream>()
  /** Streams that end with a call: the limits of jobs bound them. */
  readonly #calls = new Set<EventStream>()
  #timer: NodeJS.Timeout | undefined

  constructor (options: EventStreamOptions) {
    this.#options = options
    this.#keyWatch = new KeyWatch(options.keys, options.heartbeatMs)
  }

  /** @throws HttpError `UNAVAILABLE` when as many are open as may be. */
  requireRoom (): void {
    if (this.#open.size >= this.#options.max) {
      throw new HttpError('UNAVAILABLE', `This API process holds ${this.#options.max} event streams, the most that MAX_STREAMS allows`)
    }
  }

  /** Takes the response over from Fastify; call `requireRoom` before. It ends with its key. */
  open (reply: FastifyReply): EventStream {
    const stream = this.#begin(reply, this.#open)
    const { principal } = reply.request
    if (principal === null || stream.isClosed) return stream
    reply.raw.once('close', this.#keyWatch.watch(principal, () => { stream.end(keyGoneFrame) }))
    return stream
  }

  /** The same for the answer of one call, which is not counted, and goes on to its end. */
  openCall (reply: FastifyReply): EventStream {
    return this.#begin(reply, this.#calls)
  }

  #begin (reply: FastifyReply, among: Set<EventStream>): EventStream {
    reply.hijack()
    const stream = new EventStream(reply.raw, { refusalOf: bytes => refusalOf(reply, bytes), hold: bytes => holdAnswer(reply, bytes) })
    // A client that has left meanwhile will not leave again.
    if (reply.raw.destroyed) return stream
    among.add(stream)
    reply.raw.once('close', () => { among.delete(stream) })
    this.#timer ??= setInterval(() => { this.#beat() }, this.#options.heartbeatMs).unref()
    return stream
  }

  #beat (): void {
    if (this.#open.size + this.#calls.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
    }
    void mapInTurns([...this.#open, ...this.#calls], stream => { stream.beat() })
  }
}
