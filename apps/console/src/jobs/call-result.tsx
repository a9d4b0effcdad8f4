import { isEnd } from '@toolyard/contract/terms'
import type { VNode } from 'preact'
import { Awaited } from '../approvals/question.tsx'
import { Problem } from '../parts/notice.tsx'
import { Output } from '../parts/output.tsx'
import { hrefOf } from '../parts/route.ts'
import { ProgressBar, Status } from '../parts/status.tsx'
import { Durations } from './course/durations.tsx'
import { Failure } from './failure.tsx'
import { useJob } from './follow.ts'
import { Log } from './log.tsx'
import { ResultFiles } from './result-files.tsx'

/** A call as it goes on: its state, its log, its answer. */
export function CallResult ({ id }: { id: string }): VNode {
  const { job, log, error } = useJob(id)
  return (
    <div class='call-result' aria-live='polite'>
      <Problem error={error} />
      {job !== undefined && (
        <>
          <p class='call-head'><Status status={job.status} /> <span class='soft small'>waited, ran: <Durations job={job} /></span> <a class='small' href={hrefOf(['jobs', id])}>Open the job</a></p>
          <ProgressBar job={job} />
          <Awaited job={job} />
          <Failure job={job} />
          {job.status === 'succeeded' && <Output value={job.result} name={job.tool} />}
          <ResultFiles job={job} />
          {(log.length > 0 || !isEnd(job.status)) && <Log lines={log} isLive={!isEnd(job.status)} />}
        </>
      )}
    </div>
  )
}
