import type { JobList, JobSummary } from '@toolyard/client'
import type { VNode } from 'preact'
import { useAccess } from '../access/context.ts'
import { useLoad } from '../access/load.ts'
import { Durations } from '../jobs/durations.tsx'
import { Empty, Problem } from '../parts/notice.tsx'
import { hrefOf, type Route } from '../parts/route.ts'
import { Status } from '../parts/status.tsx'
import { Time } from '../parts/time.tsx'

const everyMs = 2_000

export function WorkflowsPage ({ route }: { route: Route }): VNode {
  const { api } = useAccess()
  const cursor = route.query.get('cursor') ?? undefined
  const path = `/v1/jobs?${String(new URLSearchParams({ type: 'workflow.run', limit: '50', ...(cursor === undefined ? {} : { cursor }) }))}`
  const { data, error } = useLoad(path, async signal => await api.ask<JobList>(path, { signal }), everyMs)
  return (
    <main>
      <header class='page-head'><h1>Workflows</h1></header>
      <Problem error={error} />
      {data?.count === 0 && cursor === undefined
        ? <Empty title='No workflow has run.'><p>Write one into <code>workflows.yaml</code> of the workspace, and call <a href={hrefOf(['tools', 'workflow_run'])}>workflow_run</a> with its name.</p></Empty>
        : <WorkflowTable jobs={data?.jobs} />}
      <nav class='pages' aria-label='Parts of the list'>
        {cursor !== undefined && <a class='button' href={hrefOf(['workflows'])}>Newest</a>}
        {data?.next_cursor != null && <a class='button' href={hrefOf(['workflows'], { cursor: data.next_cursor })}>Older</a>}
      </nav>
    </main>
  )
}

function WorkflowTable ({ jobs }: { jobs: readonly JobSummary[] | undefined }): VNode {
  return (
    <div class='table-frame' aria-busy={jobs === undefined}>
      <table class='dense jobs'>
        <thead><tr><th class='c-status'><span class='word'>State</span></th><th>Run</th><th class='c-queue wide'>Queue</th><th class='c-time'>Submitted</th><th class='c-took wide'>Waited, ran</th><th class='c-error wide'>Error</th></tr></thead>
        <tbody>
          {jobs?.map(job => (
            <tr key={job.id}>
              <td><Status status={job.status} /></td>
              <td><a class='row-link' href={hrefOf(['workflows', job.id])}>{job.tool}</a> <code class='id'>{job.id.slice(-8)}</code></td>
              <td class='wide'>{job.queue}</td>
              <td><Time at={job.created_at} /></td>
              <td class='wide'><Durations job={job} /></td>
              <td class='wide clip' title={job.error?.message}>{job.error === null ? '' : <><code>{job.error.code}</code> {job.error.message}</>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
