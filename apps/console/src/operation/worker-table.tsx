import type { WorkerView } from '@toolyard/contract'
import type { VNode } from 'preact'
import { Empty } from '../parts/notice.tsx'
import { hrefOf } from '../parts/route.ts'
import { Time } from '../parts/time.tsx'
import { bytes } from '../parts/times.ts'

/** The workers that are alive; short for a place beside other tables. */
export function WorkerTable ({ workers, isShort = false }: { workers: readonly WorkerView[] | undefined, isShort?: boolean }): VNode {
  if (workers?.length === 0) return <Empty title='No worker is alive: jobs wait.'><p>Start one with <code>toolyard worker</code>, with the same <code>REDIS_URL</code> as this service.</p></Empty>
  return (
    <div class='table-frame' aria-busy={workers === undefined}>
      <table class={isShort ? 'dense figures-table' : 'dense listing workers'}>
        <thead>
          <tr>
            <th>Worker</th><th class='wide'>Queues</th><th class='c-places'>Places</th>{!isShort && <th class='c-figure'>Sandbox</th>}<th class='c-figure wide'>Load</th>
            {!isShort && <><th class='c-figure wide'>Memory</th><th class='c-figure wide'>Release</th></>}<th class='c-since'>Since</th>
          </tr>
        </thead>
        <tbody>{workers?.map(worker => <Row key={worker.id} worker={worker} isShort={isShort} />)}</tbody>
      </table>
    </div>
  )
}

function Row ({ worker, isShort }: { worker: WorkerView, isShort: boolean }): VNode {
  const { id, host, queues, places, sandbox, load, shortage, version, started_at: since } = worker
  return (
    <tr>
      <td title={id}><a href={hrefOf(['jobs'], { worker: id })}>{host ?? id}</a> <code class='id'>{id.slice(0, 8)}</code>{typeof shortage === 'string' && <> <span class='status failed' title='It can start no process, and takes no jobs until it can.'>✕ {shortage}</span></>}</td>
      <td class='wide' title={queues.join(', ')}>{queues.includes('*') ? 'all' : queues.join(', ')}</td>
      <td title={places?.all_queues == null ? undefined : `at most ${places.all_queues} over all queues`}>{places === null ? '–' : <>{!isShort && <meter min={0} max={Math.max(1, places.total)} value={places.used} aria-label='Places used' />} {places.used} of {places.total}</>}</td>
      {!isShort && <td><span class={`status ${sandbox.level === 'full' ? 'succeeded' : 'failed'}`} title={sandbox.missing.join(', ')}><span aria-hidden='true'>{sandbox.level === 'full' ? '✓' : '✕'}</span>{sandbox.level}</span></td>}
      <td class='wide'>{load === null ? '–' : `${load.average.toFixed(1)} of ${load.processors}`}</td>
      {!isShort && (
        <>
          <td class='wide'>{load === null ? '–' : bytes(load.memory_bytes)}</td>
          <td class='wide'>{version ?? '–'}</td>
        </>
      )}
      <td><Time at={since} /></td>
    </tr>
  )
}
