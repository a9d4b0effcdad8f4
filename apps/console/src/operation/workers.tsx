import type { LostWorker, WorkerList } from '@toolyard/contract'
import type { VNode } from 'preact'
import { useAccess } from '../access/context.ts'
import { useLoad } from '../access/load.ts'
import { Problem } from '../parts/notice.tsx'
import { hrefOf } from '../parts/route.ts'
import { Time } from '../parts/time.tsx'
import { WorkerTable } from './worker-table.tsx'

/** How often the list is read again, in milliseconds. */
const everyMs = 2_000

/** The workers that are alive. */
export function WorkersPage (): VNode {
  const { api } = useAccess()
  const { data, error } = useLoad('workers', async signal => await api.ask<WorkerList>('/v1/workers', { signal }), everyMs)
  return (
    <main>
      <header class='page-head'><h1>Workers</h1><p class='soft small' aria-live='polite'>{data === undefined ? '' : `${data.count} alive`}</p></header>
      <Problem error={error} />
      <WorkerTable workers={data?.workers} />
      {data !== undefined && data.lost.length > 0 && <LostWorkers lost={data.lost} />}
    </main>
  )
}

/** Those that went away lately, each with its jobs. */
function LostWorkers ({ lost }: { lost: readonly LostWorker[] }): VNode {
  return (
    <section class='gone'>
      <h2>Went away</h2>
      <p class='about'>
        These died, or lost Redis, in the last 15 min. What they ran <a href={hrefOf(['jobs'], { code: 'WORKER_LOST' })}>failed with <code>WORKER_LOST</code></a>,
        or another worker ran it again. If one was not started again, start it; its log, or that of its machine, says why it ended.
      </p>
      <div class='table-frame'>
        <table class='dense listing'>
          <thead><tr><th>Worker</th><th>Jobs</th><th>Last seen</th></tr></thead>
          <tbody>
            {lost.map(({ id, host, last_seen_at: seen }) => (
              <tr key={id}><td title={id}>{host ?? id} <code class='id'>{id.slice(0, 8)}</code></td><td><a href={hrefOf(['jobs'], { worker: id })}>what it ran</a></td><td><Time at={seen} /></td></tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}
