import { isEnd } from '@toolyard/contract/terms'
import type { JobSummary } from '@toolyard/client'
import type { VNode } from 'preact'
import { useNow } from '../../parts/time.tsx'
import { duration, span } from '../../parts/times.ts'

export function Durations ({ job }: { job: JobSummary }): VNode {
  const now = useNow()
  const { status, waited_ms: waited, ran_ms: ran, started_at: started, created_at: created } = job
  if (!isEnd(status)) return <span class='soft'>{status === 'running' ? 'runs' : 'waits'} for {span(Math.max(0, now - Date.parse(started ?? created)))}</span>
  return <>{waited === null ? '–' : duration(waited)}<span class='soft'>, </span>{ran === null ? '–' : duration(ran)}</>
}
