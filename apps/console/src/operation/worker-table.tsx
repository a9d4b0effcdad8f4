import type { WorkerView } from '@toolyard/contract'
import type { VNode } from 'preact'
import { Empty } from '../parts/notice.tsx'
import { hrefOf } from '../parts/route.ts'
import { Time } from '../parts/time.tsx'
import { bytes } from '../parts/times.ts'

interface WorkerTableProps {
  workers: readonly WorkerView[] | undefined
  /** For a place beside other tables. */
  isShort?: boolean
  /** Asks for a worker to be drained, or to be resumed; undefined for a key that may not. */
  onDrain?: ((worker: WorkerView) => void) | undefined
}

export function WorkerTable ({ workers, isShort = false, onDrain }: WorkerTableProps): VNode {
  if (workers?.length === 0) return <Empty title='No worker is alive: jobs wait.'><p>Start one with <code>toolyard worker</code>, with the same <code>REDIS_URL</code> as this service.</p></Empty>
  return (
    <div class='table-frame' aria-busy={workers === undefined}>
      <table class={isShort ? 'dense figures-table' : 'dense listing workers'}>
        <thead>
          <tr>
            <th>Worker</th><th class='wide'>Queues</th><th class='c-places' title='Calls that it runs, of those that it can run at once'>Runs</th>{!isShort && <><th class='number wide' title='Calls that it has run since it started'>Has run</th><th class='c-figure'>Sandbox</th></>}<th class='c-figure wide' title='Processes of its machine that want a processor, of the processors that there are'>Load</th>
            {!isShort && <><th class='small-figure wide'>Memory</th><th class='small-figure wide'>Release</th></>}<th class={isShort ? 'c-since' : 'c-since wide'}>Since</th>
            {onDrain !== undefined && <th class='c-switch'><span class='unseen'>Action</span></th>}
          </tr>
        </thead>
        <tbody>{workers?.map(worker => <Row key={worker.id} worker={worker} isShort={isShort} onDrain={onDrain} />)}</tbody>
      </table>
    </div>
  )
}

function Row ({ worker, isShort, onDrain }: Pick<WorkerTableProps, 'isShort' | 'onDrain'> & { worker: WorkerView }): VNode {
  const { id, host, queues, places, sandbox, load, shortage, state, ran, version, started_at: since } = worker
  const short = id.slice(0, 8)
  return (
    <tr>
      <td title={id}>
        <a href={hrefOf(['workers', id])}>{host ?? id}</a> <code class='id'>{short}</code>
        {state !== 'working' && <span class='tag problem' title={state === 'drained' ? 'It runs nothing and takes no jobs until it is resumed' : 'It takes no more jobs, and ends what it runs'}>{state}</span>}
        {typeof shortage === 'string' && <> <span class='status failed' title='It can start no process, and takes no jobs until it can.'>✕ {shortage}</span></>}
      </td>
      <td class='wide' title={queues.join(', ')}>{queues.includes('*') ? 'all' : queues.join(', ')}</td>
      <td title={places?.all_queues == null ? undefined : `at most ${places.all_queues} over all queues`}>{places === null ? '–' : <>{!isShort && <meter min={0} max={Math.max(1, places.total)} value={places.used} aria-label='Calls that it runs' />} {places.used} of {places.total}</>}</td>
      {!isShort && (
        <>
          <td class='number wide'>{ran === null ? '–' : ran.toLocaleString('en')}</td>
          <td><span class={`status ${sandbox.level === 'full' ? 'succeeded' : 'failed'}`} title={sandbox.missing.join(', ')}><span aria-hidden='true'>{sandbox.level === 'full' ? '✓' : '✕'}</span>{sandbox.level}</span></td>
        </>
      )}
      <td class='wide'>{load === null ? '–' : `${load.average.toFixed(1)} of ${load.processors}`}</td>
      {!isShort && (
        <>
          <td class='wide'>{load === null ? '–' : bytes(load.memory_bytes)}</td>
          <td class='wide'>{version ?? '–'}</td>
        </>
      )}
      <td class={isShort === true ? undefined : 'wide'}><Time at={since} /></td>
      {onDrain !== undefined && <td class='c-switch'><button type='button' class='quiet' aria-label={`${state === 'working' ? 'Drain' : 'Resume'} ${host ?? id} ${short}`} onClick={() => { onDrain(worker) }}>{state === 'working' ? 'Drain' : 'Resume'}</button></td>}
    </tr>
  )
}
