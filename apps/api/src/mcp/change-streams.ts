import { mapInTurns, onAbort } from '@toolyard/runtime'
import type { FastifyReply } from 'fastify'
import { randomUUID } from 'node:crypto'
import { principalOf, type Principal } from '../access/principal.ts'
import type { EventStream } from '../streams/event-stream.ts'
import type { EventStreams } from '../streams/event-streams.ts'
import type { CatalogChange } from './catalog-changes.ts'

const nothing = Buffer.alloc(0)
function notice (method: string, params?: object): Buffer {
  return Buffer.from(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', method, ...params !== undefined && { params } })}\n\n`)
}

/** The streams of clients of 2025 on which they hear of changes. A session has one at a time, over all processes: the newest. */
export class ChangeStreams {
  readonly #streams: EventStreams
  readonly #open = new Map<EventStream, { id: string, session: string | undefined, principal: Principal }>()

  constructor (streams: EventStreams, stopping: AbortSignal) {
    this.#streams = streams
    onAbort(stopping, () => { this.#end(() => true) })
  }

  /**
   * Opens a stream, and gives its id; undefined when the client has left already.
   *
   * @throws HttpError `UNAVAILABLE` when too many streams are open.
   */
  open (reply: FastifyReply, session: string | undefined): string | undefined {
    this.#streams.requireRoom()
    const stream = this.#streams.open(reply)
    if (stream.isClosed) return undefined
    const id = randomUUID()
    this.#open.set(stream, { id, session, principal: principalOf(reply.request) })
    stream.onClose = () => { this.#open.delete(stream) }
    // A client waits for the head of the answer.
    reply.raw.flushHeaders()
    return id
  }

  /** Ends the streams of a session, but for the one with this id. */
  endSession (session: string, but?: string): void {
    this.#end(of => of.session === session && of.id !== but)
  }

  /**
   * Tells all readers what has changed.
   *
   * @param watchedBy the URIs that a session watches.
   */
  async tell (change: CatalogChange, watchedBy: (session: string, principal: Principal) => Promise<readonly string[]>): Promise<void> {
    const { updated } = change
    const changed = (['tools', 'prompts', 'resources'] as const).filter(list => change[list])
    const lists = changed.map(list => notice(`notifications/${list}/list_changed`))
    await mapInTurns([...this.#open.keys()], stream => { stream.sendAll(lists) })
    if (updated.length === 0) return
    const isUpdated = new Set(updated)
    for (const [stream, { session, principal }] of this.#open) {
      const watched = session === undefined ? [] : await watchedBy(session, principal)
      for (const uri of watched.filter(uri => isUpdated.has(uri))) stream.send(notice('notifications/resources/updated', { uri }))
    }
  }

  #end (isMeant: (of: { id: string, session: string | undefined }) => boolean): void {
    void mapInTurns([...this.#open], ([stream, of]) => { if (isMeant(of)) stream.end(nothing) })
  }
}
