import { asError } from '@toolyard/contract'
import { logStart, type JobReader, type JobWatch } from '@toolyard/queue'
import { RedisUnavailableError } from '@toolyard/store'

/** How a job has ended, or what it asks; undefined when it goes on after `waitMs`. @throws RedisUnavailableError */
export async function waitForJob (
  { jobs, watch }: { jobs: JobReader, watch: JobWatch }, { queue, jobId }: { queue: string, jobId: string },
  waitMs: number, abandoned: AbortSignal
): ReturnType<JobReader['settlementOrQuestion']> {
  const first = await jobs.settlementOrQuestion(queue, jobId)
  if (first !== undefined || waitMs <= 0 || abandoned.aborted) return first
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
    const look = (): void => {
      jobs.settlementOrQuestion(queue, jobId).then(settlement => {
        // It was there before. A record that isn't there proves nothing: see docs/decisions/0001-one-reply-channel.md.
        if (settlement === undefined || settlement === 'missing') return
        leave()
        resolve(settlement)
      }, (error: unknown) => {
        // While Redis is away nothing is known; the watch looks again when it is back.
        if (error instanceof RedisUnavailableError) return
        leave()
        reject(asError(error))
      })
    }
    const timer = setTimeout(end, waitMs)
    const unwatch = watch.watch({ id: jobId, queue, lastLogId: () => logStart, onChange: change => { if (change === 'job') look() } })
    abandoned.addEventListener('abort', end)
  })
}
