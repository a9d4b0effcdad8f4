import type { JobData, Settlement } from '@toolyard/contract'
import type { Job } from 'bullmq'
import type { Announcer } from './announcer.ts'
import type { Redis } from './connection.ts'
import { EndNotices, type Told } from './end-notices.ts'
import { jobChannel, replyChannel } from './names.ts'
import { encodeReply } from './settlement.ts'

/** Who watches a job hears so much later that it runs, in milliseconds, if it still does. */
const begunMs = 5

/** Tells who watches the jobs of one queue, and who waits for them, what becomes of them in this worker. */
export class JobNotices {
  readonly #announcer: Announcer
  readonly #ends: EndNotices
  readonly #told = new WeakMap<Job, Promise<Told>>()
  readonly #begun = new Set<string>()
  #timer: NodeJS.Timeout | undefined

  constructor (redis: Redis, queue: string, announcer: Announcer) {
    this.#announcer = announcer
    this.#ends = new EndNotices(redis, queue)
  }

  /** A run begins. Most end before anybody could have seen that. */
  begin (id: string): void {
    this.#begun.add(id)
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      for (const begun of this.#begun) this.changed(begun)
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

  /** BullMQ settles a job in the turn in which its run ends: its end is told right behind that. */
  ending (job: Job<JobData>): void {
    this.#told.set(job, this.#ends.tell({ id: job.id ?? '', replyTo: job.data.replyTo }))
  }

  /**
   * A job has ended: tells what could not be told before. Should all that get lost, the waiting process finds the record.
   *
   * @returns whether other jobs may depend on it.
   */
  async ended (job: Job<JobData>, settlement: Settlement): Promise<boolean> {
    const told = await this.#told.get(job) ?? 'no'
    if (told === 'no') {
      this.changed(job.id ?? '')
      if (job.data.replyTo !== undefined) this.#announcer.publish(replyChannel(job.data.replyTo), encodeReply(job.id ?? '', settlement))
    }
    return told !== 'yes'
  }
}
