import { asError } from '@toolyard/contract'
import { logStart, type JobReader, type JobWatch } from '@toolyard/queue'
import { LoopTurns } from '@toolyard/runtime'
import { RedisUnavailableError } from '@toolyard/store'

interface WaitedJob {
  queue: string
  jobId: string
}

export interface WaitPatience {
  waitMs: number
  /** Whose wait it is: owners take turns. */
  owner: string
  /** Ends the waiting. */
  abandoned: AbortSignal
}

/** How many waits, or batches, that end in the same turn of the event loop may go on in it. */
const [waitsOfTurn, batchesOfTurn] = [50, 5]
const turns = new LoopTurns()

/** Lets a batch whose time is over go on: any number may have the same deadline. */
export async function turnOfBatch (owner: string): Promise<void> {
  await turns.run(owner, 1 / batchesOfTurn, () => {})
}

/** Waits for the ends of jobs. Any number may wait for the same job. */
export class JobWaits {
  readonly #jobs: JobReader
  readonly #watch: JobWatch
  readonly #looks = new Map<string, ReturnType<JobReader['settlementOrQuestion']>>()

  constructor ({ jobs, watch }: { jobs: JobReader, watch: JobWatch }) {
    this.#jobs = jobs
    this.#watch = watch
  }

  /** How a job has ended, or what it asks; undefined when it goes on after `waitMs`. @throws RedisUnavailableError */
  async settlement (job: WaitedJob, patience: WaitPatience): ReturnType<JobReader['settlementOrQuestion']> {
    const first = await this.#look(job)
    if (first !== undefined || patience.waitMs <= 0 || patience.abandoned.aborted) return first
    return await waitUntil(this.#watch, job, async () => {
      const settlement = await this.#look(job)
      // It was there before. A record that isn't there proves nothing: see docs/decisions/0001-one-reply-channel.md.
      return settlement === 'missing' ? undefined : settlement
    }, patience)
  }

  /** Those who look before anything else happens share one look; a later one may find what has changed since. */
  #look ({ queue, jobId }: WaitedJob): ReturnType<JobReader['settlementOrQuestion']> {
    const shared = this.#looks.get(jobId)
    if (shared !== undefined) return shared
    const look = this.#jobs.settlementOrQuestion(queue, jobId)
    this.#looks.set(jobId, look)
    queueMicrotask(() => { this.#looks.delete(jobId) })
    return look
  }
}

/** The first result of `look` that isn't undefined: it looks at each change of a job. Undefined after `waitMs`. @throws as `look` */
export async function waitUntil<Found> (
  watch: JobWatch, { queue, jobId }: WaitedJob, look: () => Promise<Found | undefined>, { waitMs, owner, abandoned }: WaitPatience
): Promise<Found | undefined> {
  if (abandoned.aborted) return undefined
  const found = await new Promise<Found | undefined>((resolve, reject) => {
    const leave = (): void => {
      clearTimeout(timer)
      unwatch()
      abandoned.removeEventListener('abort', end)
    }
    const end = (): void => {
      leave()
      resolve(undefined)
    }
    const lookAgain = (): void => {
      look().then(found => {
        if (found === undefined) return
        leave()
        resolve(found)
      }, (error: unknown) => {
        // While Redis is away nothing is known; the watch looks again when it is back.
        if (error instanceof RedisUnavailableError) return
        leave()
        reject(asError(error))
      })
    }
    const timer = setTimeout(end, waitMs)
    const unwatch = watch.watch({ id: jobId, queue, lastLogId: () => logStart, onChange: change => { if (change === 'job') lookAgain() } })
    abandoned.addEventListener('abort', end)
  })
  return await turns.run(owner, 1 / waitsOfTurn, () => found)
}
