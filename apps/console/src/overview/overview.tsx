import { pathSegment, type JobList } from '@toolyard/client'
import type { JobCounts, QueueList, SessionView, Statistics, ToolOverview, WorkerList } from '@toolyard/contract'
import type { VNode } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { useAccess } from '../access/context.ts'
import { asError, useLoad, type Loaded } from '../access/load.ts'
import { Problem } from '../parts/notice.tsx'
import { hrefOf, type Route } from '../parts/route.ts'
import { attentionOf } from './attention.ts'
import { AttentionList } from './attention-list.tsx'
import { Figures } from './figures.tsx'
import { QueueTable } from './queue-table.tsx'
import { withHistory, withReading, type Columns } from './series.ts'
import { StatisticsCharts } from './statistics-charts.tsx'
import { UsageTable } from './usage-table.tsx'
import { WorkerTable } from '../operation/worker-table.tsx'

/** How often is read what changes at once, what is counted by the minute, and what hardly changes, in milliseconds. */
const every = { now: 2_000, counts: 5_000, slow: 15_000 }
const spans = [['15', '15 min'], ['60', '1 h'], ['360', '6 h'], ['1440', '24 h']] as const
/** Readings of what waits and runs: 20 min. */
const mostReadings = 600
/** The time that is shown while the service's own count is being loaded. */
const shownMs = 5 * 60_000
const lately = 15 * 60_000
/** A job that failed lately was submitted at most so long ago: it waited, and a tool runs for an hour at most. */
const longestMs = 2 * 3_600_000

export function OverviewPage ({ route }: { route: Route }): VNode {
  const { api, person } = useAccess()
  const [problem, setProblem] = useState<Error>()
  const isOperator = person.tenant === undefined
  const minutes = spans.find(([value]) => value === route.query.get('minutes'))?.[0] ?? '60'
  const queues = useRead<QueueList>(isOperator ? '/v1/queues' : undefined, every.now)
  const workers = useRead<WorkerList>(isOperator ? '/v1/workers' : undefined, every.now)
  const statistics = useRead<Statistics>(`/v1/stats?minutes=${minutes}`, every.counts)
  const recent = useRead<Statistics>('/v1/stats?minutes=15', every.counts)
  const registry = useRead<ToolOverview>('/v1/registry', every.slow)
  const sessions = useRead<{ sessions: SessionView[] }>('/v1/sessions?limit=200', every.slow)
  const lost = useLost()
  const asking = useRead<JobCounts>('/v1/jobs/counts?status=input_required', every.slow)
  const readings = useReadings(queues.data)
  const now = useMemo(() => (
    withHistory(readings, statistics.data ?? { from: new Date(Date.now() - shownMs).toISOString() })
  ), [readings, statistics.data])
  const attention = attentionOf({
    queues: queues.data?.queues,
    workers: workers.data?.workers,
    lostWorkers: workers.data?.gone.filter(({ how, last_seen_at: at }) => how === 'lost' && Date.parse(at) > Date.now() - lately),
    statistics: recent.data,
    registry: registry.data,
    lost: lost.data,
    asking: asking.data?.states.input_required,
    sessions: sessions.data?.sessions
  })
  const switchQueue = (name: string, paused: boolean): void => {
    void api.ask(`/v1/queues/${pathSegment(name)}`, { method: 'PATCH', body: { paused } })
      .then(() => { setProblem(undefined); queues.reload() }, (caught: unknown) => { setProblem(asError(caught)) })
  }
  const canSwitch = isOperator && person.can_write
  const known = [statistics, recent, registry, ...isOperator ? [queues, workers] : []]
  return (
    <main>
      <header class='page-head'>
        <h1>Overview</h1>
        <nav class='pills' aria-label='Span of time'>
          {spans.map(([value, label]) => <a key={value} href={hrefOf(['overview'], { minutes: value })} aria-current={minutes === value ? 'true' : undefined}>{label}</a>)}
        </nav>
      </header>
      <Problem error={problem ?? known.find(({ error }) => error !== undefined)?.error} />
      <AttentionList
        items={attention} isKnown={known.every(({ data }) => data !== undefined)}
        onResume={canSwitch ? queue => { switchQueue(queue, false) } : undefined}
      />
      <Figures statistics={statistics.data} queues={queues.data?.queues} workers={workers.data} />
      <StatisticsCharts statistics={statistics.data} now={isOperator ? now : undefined} />
      <div class='halves'>
        {isOperator && (
          <section><h2>Queues</h2><QueueTable queues={queues.data?.queues} onSwitch={canSwitch ? switchQueue : undefined} /></section>
        )}
        {isOperator && <section><h2>Workers</h2><WorkerTable workers={workers.data?.workers} isShort /></section>}
        <section><h2>Tools</h2><UsageTable what='tool' entries={statistics.data?.tools} /></section>
        <section><h2>Keys</h2><UsageTable what='key' entries={statistics.data?.keys} /></section>
      </div>
    </main>
  )
}

function useRead<T> (path: string | undefined, everyMs: number): Loaded<T> {
  const { api } = useAccess()
  return useLoad<T>(path ?? '', async signal => {
    // A part that this key may not see is never there.
    if (path === undefined) return await new Promise<T>(() => {})
    return await api.ask<T>(path, { signal })
  }, everyMs)
}

/** How many jobs lost their worker lately. */
function useLost (): Loaded<number> {
  const { api } = useAccess()
  return useLoad('lost', async signal => {
    const query = new URLSearchParams({ code: 'WORKER_LOST', from: new Date(Date.now() - longestMs).toISOString(), limit: '200' })
    const { jobs } = await api.ask<JobList>(`/v1/jobs?${String(query)}`, { signal })
    return jobs.filter(({ finished_at: at }) => at !== null && Date.parse(at) > Date.now() - lately).length
  }, every.slow)
}

/** Jobs that wait and run, as they were read since somebody looks at the page. */
function useReadings (list: QueueList | undefined): Columns {
  const [readings, setReadings] = useState<Columns>([[], [], []])
  useEffect(() => {
    if (list === undefined) return
    const sum = (which: 'running' | 'waiting'): number => list.queues.reduce((all, queue) => all + queue[which], 0)
    setReadings(known => withReading(known, Date.now() / 1_000, [sum('running'), sum('waiting')], mostReadings))
  }, [list])
  return readings
}
