import type { JobSummary } from '@toolyard/client'
import type { VNode } from 'preact'
import { useNow } from '../parts/now.ts'
import { duration, span } from '../parts/times.ts'
import { isEnd } from './terms.ts'

/** How long a job waited and ran, or does so now. */
export function Durations ({ job }: { job: JobSummary }): VNode {
  const now = useNow()
  const created = Date.parse(job.created_at)
  if (isEnd(job.status)) return <>{duration(Date.parse(job.updated_at) - created)}</>
  return <span class='soft'>{job.status} for {span(Math.max(0, now - created))}</span>
}
