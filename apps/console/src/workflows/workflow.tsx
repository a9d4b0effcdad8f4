import { isEnd } from '@toolyard/contract/terms'
import type { JobView } from '@toolyard/client'
import type { JobStep, JobSteps } from '@toolyard/contract'
import type { VNode } from 'preact'
import { useAccess } from '../access/context.ts'
import { useLoad } from '../access/load.ts'
import { Failure } from '../jobs/failure.tsx'
import { useJob } from '../jobs/follow.ts'
import { Log } from '../jobs/log.tsx'
import { Timeline } from '../jobs/course/timeline.tsx'
import { Waterfall, type Lane } from '../jobs/course/waterfall.tsx'
import { useKeys } from '../parts/keys.ts'
import { Empty, Problem } from '../parts/notice.tsx'
import { hrefOf } from '../parts/route.ts'
import { Status } from '../parts/status.tsx'
import { duration } from '../parts/times.ts'
import { Graph } from './graph.tsx'

const everyMs = 500

/** One run of a workflow: its steps as they go on. */
export function WorkflowPage ({ id }: { id: string }): VNode {
  const { job, log, error } = useJob(id)
  useKeys({ Escape: () => { location.hash = hrefOf(['workflows']) } })
  return (
    <main>
      <p class='crumb'><a href={hrefOf(['workflows'])}>Workflows</a></p>
      {job === undefined && (error === undefined ? <h1 class='soft'>Workflow …</h1> : <><h1>Workflow</h1><Empty title={error.message} /></>)}
      {job !== undefined && (
        <>
          <header class='page-head'>
            <h1>{nameOf(job)} <Status status={job.status} /></h1>
            <a class='button' href={hrefOf(['jobs', id])}>Its job</a>
          </header>
          <Timeline job={job} />
          <Steps job={job} />
          <Failure job={job} />
          <Log lines={log} isLive={!isEnd(job.status)} />
        </>
      )}
    </main>
  )
}

function Steps ({ job }: { job: JobView }): VNode {
  const { api } = useAccess()
  // Once more when it has ended: the last step is then as it stays.
  const { data, error } = useLoad(`${job.id} ${isEnd(job.status)}`, async signal => await api.ask<JobSteps>(`/v1/jobs/${job.id}/steps`, { signal }), isEnd(job.status) ? undefined : everyMs)
  const done = data?.steps.filter(({ status }) => status === 'succeeded').length ?? 0
  return (
    <section class='steps-graph' aria-busy={data === undefined}>
      <p class='soft small' aria-live='polite'>{data === undefined || data.count === 0 ? ' ' : `${done} of ${data.count} steps done`}</p>
      <Problem error={error} />
      {data?.count === 0 && <Empty title='No steps yet.'><p>They are planned when a worker takes the job.</p></Empty>}
      {data !== undefined && data.count > 0 && <Graph steps={data.steps} />}
      {data !== undefined && <Waterfall lanes={data.steps.map(laneOf)} title={took => `Its steps in ${took}`} />}
    </section>
  )
}

function laneOf (step: JobStep): Lane {
  const { name, status, job_id: id, created_at: created, started_at: started, finished_at: finished, ran_ms: ran } = step
  return {
    id: id ?? undefined,
    name,
    status,
    course: created === null || status === 'waiting' ? undefined : { status, created_at: created, started_at: started, finished_at: finished },
    took: ran === null ? '–' : duration(ran)
  }
}

function nameOf ({ input, tool }: JobView): string {
  const { workflow } = typeof input === 'object' && input !== null ? input as { workflow?: unknown } : {}
  return typeof workflow === 'string' ? workflow : tool
}
