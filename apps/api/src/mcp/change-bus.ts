import type { ServerEvent, ServerEventBus } from '@modelcontextprotocol/server'
import { orElse } from '@toolyard/contract/terms'
import { nextTurn } from '@toolyard/runtime'

type Listener = (event: ServerEvent) => void

/** Streams that are told in one turn of the event loop. What they are sent is written at the end of the turn, behind all of them. */
const ofTurn = 64

/** Tells the streams of clients of 2026 what has changed, in turns: a process may hold thousands of them. */
export class ChangeBus implements ServerEventBus {
  readonly #listeners = new Set<Listener>()

  publish (event: ServerEvent): void {
    void this.#tell(event)
  }

  subscribe (listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => { this.#listeners.delete(listener) }
  }

  async #tell (event: ServerEvent): Promise<void> {
    for (const [at, listener] of [...this.#listeners].entries()) {
      if (at > 0 && at % ofTurn === 0) await nextTurn()
      if (this.#listeners.has(listener)) orElse(() => { listener(event) }, undefined)
    }
  }
}
