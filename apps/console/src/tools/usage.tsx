import type { Statistics } from '@toolyard/contract'
import type { VNode } from 'preact'
import { useAccess } from '../access/context.ts'
import { useLoad } from '../access/load.ts'
import { StatisticsCharts } from '../overview/statistics-charts.tsx'
import { hrefOf } from '../parts/route.ts'
import { duration } from '../parts/times.ts'

/** How often they are read again, in milliseconds. */
const everyMs = 15_000

export function Usage ({ tool }: { tool: string }): VNode {
  const { api } = useAccess()
  const search = String(new URLSearchParams({ minutes: '1440', tool }))
  const { data } = useLoad(search, async signal => await api.ask<Statistics>(`/v1/stats?${search}`, { signal }), everyMs)
  const entry = data?.tools.find(({ name }) => name === tool)
  return (
    <section class='card usage'>
      <h2>The last 24 hours</h2>
      {data !== undefined && entry === undefined && <p class='soft'>No call of it ended in this time.</p>}
      {entry !== undefined && (
        <p>
          {entry.calls.toLocaleString('en')} {entry.calls === 1 ? 'call' : 'calls'},{' '}
          <a href={hrefOf(['jobs'], { tool, status: 'failed' })}>{entry.errors.toLocaleString('en')} {entry.errors === 1 ? 'error' : 'errors'}</a>
          {entry.running_ms.p95 !== null && <>; 95 % ran for less than {duration(entry.running_ms.p95)}</>}
        </p>
      )}
      {entry !== undefined && <StatisticsCharts statistics={data} now={undefined} />}
    </section>
  )
}
