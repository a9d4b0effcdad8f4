import { asError } from '@toolyard/contract'
import { logStart, type JobReader, type JobWatch } from '@toolyard/queue'
import { RedisUnavailableError } from '@toolyard/store'

interface WaitedJob {
  queue: string
  jobId: string
}

/** How a job has ended, or what it asks; undefined when it goes on after `waitMs`. @throws RedisUnavailableError */
export async function waitForJob (
  { jobs, watch }: { jobs: JobReader, watch: JobWatch }, job: WaitedJob, waitMs: number, abandoned: AbortSignal
): ReturnType<JobReader['settlementOrQuestion']> {
  const look = async (): ReturnType<JobReader['settlementOrQuestion']> => await jobs.settlementOrQuestion(job.queue, job.jobId)
  const first = await look()
  if (first !== undefined || waitMs <= 0 || abandoned.aborted) return first
  return await waitUntil(watch, job, async () => {
    const settlement = await look()
    // It was there before. A record that isn't there proves nothing: see docs/decisions/0001-one-reply-channel.md.
    return settlement === 'missing' ? undefined : settlement
  }, { waitMs, abandoned })
}

/** The first result of `look` that isn't undefined: it looks at each change of a job. Undefined after `waitMs`. @throws as `look` */
export async function waitUntil<Found> (
  watch: JobWatch, { queue, jobId }: WaitedJob, look: () => Promise<Found | undefined>,
  { waitMs, abandoned }: { waitMs: number, abandoned: AbortSignal }
): Promise<Found | undefined> {
  if (abandoned.aborted) return undefined
  return await new Promise((resolve, reject) => {
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
}
