import type { GoneWorker, WorkerList } from '@toolyard/contract'
import type { VNode } from 'preact'
import { useAccess } from '../access/context.ts'
import { useLoad } from '../access/load.ts'
import { Problem } from '../parts/notice.tsx'
import { hrefOf } from '../parts/route.ts'
import { Time } from '../parts/time.tsx'
import { useDraining } from './drain-worker.tsx'
import { WorkerTable } from './worker-table.tsx'

const everyMs = 2_000

export function WorkersPage (): VNode {
  const { api } = useAccess()
  const { data, error, reload } = useLoad('workers', async signal => await api.ask<WorkerList>('/v1/workers', { signal }), everyMs)
  const { handleDrain, problem, dialog } = useDraining(data?.workers ?? [], reload)
  return (
    <main>
      <header class='page-head'><h1>Workers</h1><p class='soft small' aria-live='polite'>{data === undefined ? '' : `${data.count} alive`}</p></header>
      <Problem error={problem ?? error} />
      <WorkerTable workers={data?.workers} onDrain={handleDrain} />
      {data !== undefined && data.gone.length > 0 && <GoneWorkers gone={data.gone} />}
      {dialog}
    </main>
  )
}

function GoneWorkers ({ gone }: { gone: readonly GoneWorker[] }): VNode {
  return (
    <section class='gone'>
      <h2>Went away</h2>
      <p class='about'>
        In the last 7 days. Those that were lost died, or lost Redis. What they ran <a href={hrefOf(['jobs'], { code: 'WORKER_LOST' })}>failed with <code>WORKER_LOST</code></a>,
        or another worker ran it again. If one was not started again, start it; its log, or that of its machine, says why it ended.
      </p>
      <div class='table-frame'>
        <table class='dense listing workers'>
          <thead><tr><th>Worker</th><th class='c-figure'>How</th><th class='wide'>Queues</th><th class='number'>Has run</th><th class='wide'>Its jobs</th><th class='c-figure wide'>Release</th><th class='c-since wide'>Since</th><th class='c-since'>Last seen</th></tr></thead>
          <tbody>
            {gone.map(({ id, host, how, queues, ran, version, started_at: since, last_seen_at: seen }) => (
              <tr key={id}>
                <td title={id}><a href={hrefOf(['workers', id])}>{host ?? id}</a> <code class='id'>{id.slice(0, 8)}</code></td>
                <td>{how === 'lost' ? <strong class='problem'>lost</strong> : 'stopped'}</td>
                <td class='wide' title={queues.join(', ')}>{queues.includes('*') ? 'all' : queues.join(', ')}</td>
                <td class='number'>{ran === null ? '–' : ran.toLocaleString('en')}</td>
                <td class='wide'><a href={hrefOf(['jobs'], { worker: id })}>what it ran</a></td>
                <td class='wide'>{version ?? '–'}</td>
                <td class='wide'><Time at={since} /></td>
                <td><Time at={seen} /></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}
