import { onAbort } from '@toolyard/runtime'

/*
 * The places of a worker process, which all of its queues share. A place is free, or a queue has it for one job. A queue
 * that wants one more stands in line, once. What must always hold: nobody stands in line while a place is free.
 *
 * The queue that has the fewest places is next, and of those with as many the one that waits for the longest. So a queue
 * that has none gets one after at most as many ends of jobs as there are other queues, and slow jobs of one queue don't
 * take all places while another queue wants some.
 */

/** The places that the queues of one process share (`WORKER_TOTAL_CONCURRENCY`). */
export class SharedPlaces {
  readonly #total: number
  readonly #held = new Map<string, number>()
  /** Who waits, in the order in which they came. */
  readonly #line = new Map<string, () => void>()
  #used = 0

  constructor (total: number) {
    this.#total = total
  }

  get hasFree (): boolean {
    return this.#used < this.#total
  }

  /** Takes a place for a job of a queue, when it is its turn; false where the wait was ended before. */
  async take (queue: string, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false
    if (this.hasFree) {
      this.#give(queue)
      return true
    }
    return await new Promise(resolve => {
      const off = onAbort(signal, () => {
        this.#line.delete(queue)
        resolve(false)
      })
      this.#line.set(queue, () => {
        off()
        resolve(true)
      })
    })
  }

  /** Whether a queue whose job ends may go on with that place: no other queue has a better claim to it. */
  mayKeep (queue: string): boolean {
    const held = this.#heldBy(queue)
    for (const other of this.#line.keys()) if (other !== queue && this.#heldBy(other) < held) return false
    return true
  }

  /** A job of a queue has ended, or there was none. */
  leave (queue: string): void {
    const held = this.#heldBy(queue) - 1
    if (held > 0) this.#held.set(queue, held)
    else this.#held.delete(queue)
    this.#used -= 1
    const next = this.#next()
    if (next === undefined) return
    const begin = this.#line.get(next)
    this.#line.delete(next)
    this.#give(next)
    begin?.()
  }

  #next (): string | undefined {
    let next: string | undefined
    for (const queue of this.#line.keys()) if (next === undefined || this.#heldBy(queue) < this.#heldBy(next)) next = queue
    return next
  }

  #give (queue: string): void {
    this.#held.set(queue, this.#heldBy(queue) + 1)
    this.#used += 1
  }

  #heldBy (queue: string): number {
    return this.#held.get(queue) ?? 0
  }
}
