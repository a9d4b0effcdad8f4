import type { Announcer } from './announcer.ts'
import { jobChannel } from '@toolyard/store'

/** Watchers of a job get a message after so many milliseconds of its run, if it still runs. */
const begunMs = 5

/** Sends watchers of jobs what this worker does with them; their end is sent by the script that settles them. */
export class JobNotices {
  readonly #announcer: Announcer
  readonly #begun = new Set<string>()
  readonly #onBegun: (id: string) => void
  #timer: NodeJS.Timeout | undefined

  /** @param onBegun gets each run that isn't over after a few milliseconds. */
  constructor (announcer: Announcer, onBegun: (id: string) => void) {
    this.#announcer = announcer
    this.#onBegun = onBegun
  }

  /** A run begins. Most end before anybody could have seen that. */
  begin (id: string): void {
    this.#begun.add(id)
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      for (const begun of this.#begun) {
        this.changed(begun)
        this.#onBegun(begun)
      }
      this.#begun.clear()
    }, begunMs)
  }

  /** A run is over, whatever becomes of its job. */
  over (id: string): void {
    this.#begun.delete(id)
  }

  /** A job is in another state, which is not its end. */
  changed (id: string): void {
    this.#announcer.publish(jobChannel(id), 'job')
  }
}
