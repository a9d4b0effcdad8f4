import type { JobSummary, JobView } from '@toolyard/client'
import type { ComponentChildren, VNode } from 'preact'
import { useNow } from '../parts/now.ts'
import { hrefOf } from '../parts/route.ts'
import { Status } from '../parts/status.tsx'
import { Time } from '../parts/time.tsx'
import { duration } from '../parts/times.ts'
import { Durations } from './durations.tsx'
import { barsOf, isEnd } from './terms.ts'

/** What a job has gone through, with the time of each step and how long it took to come there. */
export function Timeline ({ job }: { job: JobView }): VNode {
  const now = useNow()
  const { status, created_at: created, started_at: started, finished_at: finished, waited_ms: waited, ran_ms: ran } = job
  const since = (at: string): number => Math.max(0, now - Date.parse(at))
  return (
    <ol class='timeline'>
      <Step name='submitted' at={created} />
      {job.due_at !== undefined && <Step name='due' at={job.due_at} />}
      {started === null && !isEnd(status) && <Step name='waits' isNow took={since(created)} />}
      {started !== null && <Step name='started' at={started} note='after' took={waited ?? undefined} />}
      {status === 'running' && started !== null && <Step name='runs' isNow took={since(started)} />}
      {isEnd(status) ? <Step name={status} at={finished ?? job.updated_at} note='after' took={ran ?? undefined} /> : <li class='next'><span class='step'>ends</span>–</li>}
    </ol>
  )
}

interface StepProps {
  name: string
  at?: string
  note?: string
  /** Milliseconds. */
  took?: number | undefined
  isNow?: boolean
}

function Step ({ name, at, note, took, isNow }: StepProps): VNode {
  const parts: ComponentChildren[] = []
  if (took !== undefined && note === undefined) parts.push(duration(took))
  // The space is outside: a line may break there, and not between a number and its unit.
  if (took !== undefined && note !== undefined) parts.push(' ', <span class='soft' key='took'>{note} {duration(took)}</span>)
  return <li class={isNow === true ? 'now' : name}><span class='step'>{name}</span>{at !== undefined && <Time at={at} />}{parts}</li>
}

/** Jobs that were made together, each below the other: when it waited, when it ran, and what came of it. */
export function Waterfall ({ jobs }: { jobs: readonly JobSummary[] }): VNode | null {
  const now = useNow()
  // A list may be the newest first.
  const inOrder = [...jobs].sort((a, b) => a.id < b.id ? -1 : 1)
  const { bars, totalMs } = barsOf(inOrder, now)
  if (jobs.length === 0) return null
  const percent = (part: number): string => `${(100 * part).toFixed(2)}%`
  return (
    <section class='card waterfall'>
      <h2>One request: {jobs.length} {jobs.length === 1 ? 'job' : 'jobs'} in {duration(totalMs)}</h2>
      <ol>
        {inOrder.map((job, place) => {
          const { waitedFrom = 0, ranFrom = 0, to = 0 } = bars[place] ?? {}
          return (
            <li key={job.id}>
              <span class='name'><a href={hrefOf(['jobs', job.id])}>{job.tool}</a> <code class='id'>{job.id.slice(-8)}</code></span>
              <span class='track' aria-hidden='true'>
                <span class='waits' style={{ left: percent(waitedFrom), width: percent(ranFrom - waitedFrom) }} />
                <span class={`runs ${job.status}`} style={{ left: percent(ranFrom), width: percent(to - ranFrom) }} />
              </span>
              <span class='took'><Durations job={job} /></span>
              <Status status={job.status} />
            </li>
          )
        })}
      </ol>
      <p class='soft small'>The grey part of a bar is how long the call waited, the coloured one how long it ran.</p>
    </section>
  )
}
