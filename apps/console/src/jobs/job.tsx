import { isEnd } from '@toolyard/contract/terms'
import type { JobView } from '@toolyard/client'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { asError } from '../access/load.ts'
import { Awaited } from '../approvals/question.tsx'
import { useAccess } from '../access/context.ts'
import { Confirm } from '../parts/dialog.tsx'
import { Copy } from '../parts/copy.tsx'
import { JsonTree } from '../parts/json-tree.tsx'
import { Name } from '../parts/long-text.tsx'
import { Empty, Problem } from '../parts/notice.tsx'
import { Output } from '../parts/output.tsx'
import { ProgressBar, Status } from '../parts/status.tsx'
import { bytes } from '../parts/times.ts'
import { useKeys } from '../parts/keys.ts'
import { hrefOf } from '../parts/route.ts'
import { Failure } from './failure.tsx'
import { Facts } from './facts.tsx'
import { useJob } from './follow.ts'
import { Log } from './log.tsx'
import { ResultFiles } from './result-files.tsx'
import { inOwnName, runAgain } from '../again/run-again.ts'
import { Snippets } from '../again/snippets.tsx'
import { Timeline } from './course/timeline.tsx'

export function JobPage ({ id, back }: { id: string, back: string }): VNode {
  const { job, log, error } = useJob(id)
  useKeys({ Escape: () => { location.hash = back } })
  return (
    <main>
      <p class='crumb'><a href={back}>Jobs</a></p>
      {job === undefined && error === undefined && <h1 class='soft'>Job …</h1>}
      {job === undefined && error !== undefined && (
        <>
          <h1>Job</h1>
          <Empty title={error.message}><p>Finished jobs are kept for a while: see <code>JOB_RETENTION_SEC</code>.</p></Empty>
        </>
      )}
      {job !== undefined && (
        <>
          <Head job={job} back={back} />
          {error !== undefined && <Problem error={error} />}
          <Body job={job} log={log} />
        </>
      )}
    </main>
  )
}

function Head ({ job, back }: { job: JobView, back: string }): VNode {
  const { api, person } = useAccess()
  const [asked, setAsked] = useState<'cancel' | 'remove' | 'again'>()
  const [error, setError] = useState<Error>()
  async function attempt (work: () => Promise<void>): Promise<void> {
    await work().then(() => { setError(undefined) }, (caught: unknown) => { setError(asError(caught)) })
  }
  async function cancel (): Promise<void> {
    await api.ask(`/v1/jobs/${job.id}/cancel`, { method: 'POST' })
  }
  async function promote (): Promise<void> {
    await api.ask(`/v1/jobs/${job.id}/promote`, { method: 'POST' })
  }
  async function remove (): Promise<void> {
    await api.ask(`/v1/jobs/${job.id}`, { method: 'DELETE' })
    location.hash = back
  }
  // Somebody else has written what it is to do.
  const isForeign = job.tenant !== person.tenant
  async function again (): Promise<void> {
    location.hash = hrefOf(['jobs', (await runAgain(api, job)).id])
  }
  return (
    <>
      <header class='page-head'>
        <h1><Name text={job.tool} /> <Status status={job.status} /></h1>
        {person.can_write && (
          <div class='actions'>
            {job.due_at !== undefined && <button type='button' onClick={() => { void attempt(promote) }}>Run now</button>}
            {!isEnd(job.status) && <button type='button' onClick={() => { setAsked('cancel') }}>Cancel</button>}
            {isEnd(job.status) && <button type='button' onClick={() => { setAsked('remove') }}>Remove</button>}
            {isEnd(job.status) && <button type='button' onClick={() => { if (isForeign) setAsked('again'); else void attempt(again) }}>Run again</button>}
            <a class='button' href={hrefOf(['tools', job.tool], { job: job.id })}>With other arguments</a>
          </div>
        )}
      </header>
      <p class='soft id-line'><code>{job.id}</code> <Copy text={job.id} label='Copy the id' /></p>
      <Problem error={error} />
      {asked === 'again' && (
        <Confirm title='Run this job again as your own?' action='Run it as mine' onConfirm={() => { void attempt(again) }} onClose={() => { setAsked(undefined) }}>
          <p>{inOwnName} It was submitted by {job.tenant === undefined ? 'the operator' : `the tenant ${job.tenant}`}. Look at its arguments first.</p>
        </Confirm>
      )}
      {asked === 'remove' && (
        <Confirm title='Remove this job?' action='Remove the job' onConfirm={() => { void attempt(remove) }} onClose={() => { setAsked(undefined) }}>
          <p>Its output and its log go with it. Files of its session stay.</p>
        </Confirm>
      )}
      {asked === 'cancel' && (
        <Confirm title='Cancel this job?' action='Cancel the job' onConfirm={() => { void attempt(cancel) }} onClose={() => { setAsked(undefined) }}>
          <p>Its processes are ended within a second, and it stays cancelled. Who waits for it gets <code>JOB_CANCELLED</code>.</p>
        </Confirm>
      )}
    </>
  )
}

function Body ({ job, log }: { job: JobView, log: Parameters<typeof Log>[0]['lines'] }): VNode {
  return (
    <>
      <Timeline job={job} />
      <ProgressBar job={job} />
      <Awaited job={job} />
      <Failure job={job} />
      <div class='columns'>
        <div class='column'>
          <section class='card'><h2>Arguments</h2><div class='json'><JsonTree value={job.input} /></div></section>
          {job.status === 'succeeded' && (
            <section class='card'>
              <h2>Output</h2>
              {job.result_truncated !== undefined && <p class='soft small'>The tool put out {bytes(job.result_truncated.bytes)}; the first {bytes(job.result_truncated.stored_bytes)} are kept.</p>}
              <Output value={job.result} name={job.tool} />
            </section>
          )}
          <ResultFiles job={job} />
          <Log lines={log} isLive={!isEnd(job.status)} />
        </div>
        <div class='column side'>
          <Facts job={job} />
          <Snippets job={job} />
        </div>
      </div>
    </>
  )
}
