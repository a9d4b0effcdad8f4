import { isEnd } from '@toolyard/contract/terms'
import type { JobView } from '@toolyard/client'
import type { ComponentChildren, VNode } from 'preact'
import { Time, useNow } from '../../parts/time.tsx'
import { duration } from '../../parts/times.ts'

/** The steps of a job, with the time of each and how long it took to come there. */
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
