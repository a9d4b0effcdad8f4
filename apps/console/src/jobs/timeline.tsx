import type { JobView } from '@toolyard/client'
import type { VNode } from 'preact'
import { Time } from '../parts/time.tsx'
import { useNow } from '../parts/now.ts'
import { duration } from '../parts/times.ts'
import { isEnd } from './terms.ts'

/** What a job has gone through, with the time of each. */
export function Timeline ({ job }: { job: JobView }): VNode {
  const now = useNow()
  const took = (isEnd(job.status) ? Date.parse(job.updated_at) : now) - Date.parse(job.created_at)
  return (
    <ol class='timeline'>
      <li class='done'><span class='step'>submitted</span> <Time at={job.created_at} /></li>
      {job.status === 'queued' && <li class='now'><span class='step'>waits for a worker</span></li>}
      {job.status === 'running' && <li class='now'><span class='step'>runs</span></li>}
      {isEnd(job.status)
        ? <li class={`done ${job.status}`}><span class='step'>{job.status}</span> <Time at={job.updated_at} /></li>
        : <li class='next'><span class='step'>ends</span></li>}
      <li class='total'><span class='step'>in all</span> {duration(Math.max(0, took))}</li>
    </ol>
  )
}
