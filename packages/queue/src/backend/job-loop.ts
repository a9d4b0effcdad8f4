import { setImmediate as nextTurn } from 'node:timers/promises'
import { asError } from '@toolyard/contract/terms'

/** The loop waits so many turns of the event loop for a job to end. A job that hasn't ended by then is a long one. */
const shortTurns = 3

export interface LoopParts<Job> {
  isOpen: () => boolean
  /** Jobs that run at once. */
  places: () => number
  /** Takes a job, waiting for one, with the number of the try; undefined from time to time. */
  take: (taken: number) => Promise<Job | undefined>
  /** Runs and settles a job; the one that was taken with the same command. */
  run: (job: Job) => Promise<Job | undefined>
  /** Waits after a job was taken, where other workers are to have the next one. */
  restAfter: (job: Job) => Promise<void>
  onError: (error: Error) => void
}

/** Runs jobs side by side, each as soon as it is taken: docs/decisions/0016-replace-bullmq-parts.md. */
export class JobLoop<Job> {
  readonly #parts: LoopParts<Job>
  /** One promise for each place in use. In it run a job, and then each job that came with the settlement of the one before. */
  readonly #lanes = new Set<Promise<void>>()
  #laneEnded = (): void => {}
  /** Jobs that are being settled; never rejected. */
  readonly #settling = new Set<Promise<void>>()

  constructor (parts: LoopParts<Job>) {
    this.#parts = parts
  }

  /** Takes and runs jobs until it is closed; resolves when the last one has ended. */
  async serve (): Promise<void> {
    const { isOpen, places, take, restAfter } = this.#parts
    for (let taken = 0; isOpen(); taken++) {
      const job = await take(taken)
      if (job !== undefined) {
        const lane = this.#runLane(job).finally(() => {
          this.#lanes.delete(lane)
          this.#laneEnded()
        })
        this.#lanes.add(lane)
        await this.#anySettles()
        await restAfter(job)
      }
      while (this.#lanes.size >= places()) await new Promise<void>(resolve => { this.#laneEnded = resolve })
    }
    await Promise.all(this.#lanes)
  }

  /** Tells the loop of a job that is being settled. */
  async whileSettling<T> (settling: Promise<T>): Promise<T> {
    const over = settling.then(() => {}, () => {})
    this.#settling.add(over)
    try {
      return await settling
    } finally {
      this.#settling.delete(over)
    }
  }

  /** Runs a job, and then those that were taken with the same command that settled the one before. */
  async #runLane (first: Job): Promise<void> {
    try {
      for (let job: Job | undefined = first; job !== undefined;) job = await this.#parts.run(job)
    } catch (error) {
      this.#parts.onError(asError(error))
    }
  }

  /** The script that settles a job also takes the next one: while one is being settled, no other request is needed. */
  async #anySettles (): Promise<void> {
    for (let turn = 0; turn < shortTurns && this.#settling.size === 0; turn++) await nextTurn()
    if (this.#settling.size > 0) await Promise.race(this.#settling)
  }
}
