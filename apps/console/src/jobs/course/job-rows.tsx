import type { JobSummary } from '@toolyard/client'
import type { VNode } from 'preact'
import { hrefOf } from '../../parts/route.ts'
import { Status } from '../../parts/status.tsx'
import { Time } from '../../parts/time.tsx'
import { Durations } from './durations.tsx'
import { lastLine } from './terms.ts'

interface JobRowsProps {
  jobs: readonly JobSummary[] | undefined
  /** The heading of its name. */
  what: string
  /** The page that a row leads to. */
  page: 'jobs' | 'workflows'
  /** For a place beside other things. */
  isShort?: boolean
}

/** A short list of jobs below something else. */
export function JobRows ({ jobs, what, page, isShort = false }: JobRowsProps): VNode {
  return (
    <div class='table-frame' aria-busy={jobs === undefined}>
      <table class='dense jobs'>
        <thead><tr><th class='c-status'><span class='word'>State</span></th><th>{what}</th>{!isShort && <th class='c-queue wide'>Queue</th>}<th class='c-time'>Submitted</th><th class='c-took wide'>Waited, ran</th><th class='c-error wide'>Error</th></tr></thead>
        <tbody>
          {jobs?.map(job => (
            <tr key={job.id}>
              <td><Status status={job.status} /></td>
              <td class='what'><a class='row-link' href={hrefOf([page, job.id])}>{job.tool}</a> <code class='id'>{job.id.slice(-8)}</code></td>
              {!isShort && <td class='wide'>{job.queue}</td>}
              <td><Time at={job.created_at} /></td>
              <td class='wide'><Durations job={job} /></td>
              <td class='wide clip' title={job.error?.message}>{job.error === null ? '' : <><code>{job.error.code}</code> {lastLine(job.error.message)}</>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
