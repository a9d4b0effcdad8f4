import type { JobList } from '@toolyard/client'
import type { VNode } from 'preact'
import { useAccess } from '../access/context.ts'
import { useLoad } from '../access/load.ts'
import { JobRows } from '../jobs/course/job-rows.tsx'
import { Empty, Problem } from '../parts/notice.tsx'
import { hrefOf, type Route } from '../parts/route.ts'

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
        : <JobRows jobs={data?.jobs} what='Run' page='workflows' />}
      <nav class='pages' aria-label='Parts of the list'>
        {cursor !== undefined && <a class='button' href={hrefOf(['workflows'])}>Newest</a>}
        {data?.next_cursor != null && <a class='button' href={hrefOf(['workflows'], { cursor: data.next_cursor })}>Older</a>}
      </nav>
    </main>
  )
}
