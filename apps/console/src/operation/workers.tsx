import type { WorkerList, WorkerView } from '@toolyard/contract'
import type { VNode } from 'preact'
import { useAccess } from '../access/context.ts'
import { useLoad } from '../access/load.ts'
import { Empty, Problem } from '../parts/notice.tsx'
import { Time } from '../parts/time.tsx'
import { bytes } from '../parts/times.ts'

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
      {data?.count === 0
        ? <Empty title='No worker is alive: jobs wait.'><p>Start one with <code>toolyard worker</code>, with the same <code>REDIS_URL</code> as this service.</p></Empty>
        : <WorkerTable workers={data?.workers} />}
    </main>
  )
}

function WorkerTable ({ workers }: { workers: readonly WorkerView[] | undefined }): VNode {
  return (
    <div class='table-frame' aria-busy={workers === undefined}>
      <table class='dense listing'>
        <thead>
          <tr><th>Worker</th><th class='wide'>Queues</th><th>Places</th><th>Sandbox</th><th class='wide'>Load</th><th class='wide'>Memory</th><th class='wide'>Release</th><th>Since</th></tr>
        </thead>
        <tbody>
          {workers?.map(({ id, host, queues, places, sandbox, load, version, started_at: since }) => (
            <tr key={id}>
              <td title={id}>{host ?? id}</td>
              <td class='wide' title={queues.join(', ')}>{queues.join(', ')}</td>
              <td>{places === null ? '–' : <><meter min={0} max={Math.max(1, places.total)} value={places.used} aria-label='Places used' /> {places.used} of {places.total}</>}</td>
              <td><span class={`status ${sandbox.level === 'full' ? 'succeeded' : 'failed'}`} title={sandbox.missing.join(', ')}>{sandbox.level}</span></td>
              <td class='wide'>{load === null ? '–' : `${load.average.toFixed(1)} of ${load.processors}`}</td>
              <td class='wide'>{load === null ? '–' : bytes(load.memory_bytes)}</td>
              <td class='wide'>{version ?? '–'}</td>
              <td><Time at={since} /></td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
