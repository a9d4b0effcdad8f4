import type { JobList } from '@toolyard/client'
import type { ChangeList, GoneWorker, WorkerList, WorkerView } from '@toolyard/contract'
import type { ComponentChildren, VNode } from 'preact'
import { useAccess } from '../access/context.ts'
import { useLoad, type Loaded } from '../access/load.ts'
import { JobRows } from '../jobs/course/job-rows.tsx'
import { useKeys } from '../parts/keys.ts'
import { Empty, Problem } from '../parts/notice.tsx'
import { hrefOf } from '../parts/route.ts'
import { Time } from '../parts/time.tsx'
import { bytes } from '../parts/times.ts'
import { useDraining } from './drain-worker.tsx'

/** How often is read what changes at once, and what people did, in milliseconds. */
const every = { now: 2_000, changes: 15_000 }
/** Jobs that it ran, and changes among which those of this worker are. */
const most = { jobs: 20, changes: 200 }

/** One worker: what it is, what it runs, what it has run, and who drained it. */
export function WorkerPage ({ id }: { id: string }): VNode {
  const { api } = useAccess()
  const { data, error, reload } = useLoad('workers', async signal => await api.ask<WorkerList>('/v1/workers', { signal }), every.now)
  const { handleDrain, problem, dialog } = useDraining(data?.workers ?? [], reload)
  useKeys({ Escape: () => { location.hash = hrefOf(['workers']) } })
  const alive = data?.workers.find(worker => worker.id === id)
  const gone = data?.gone.find(worker => worker.id === id)
  const worker = alive ?? gone
  return (
    <main>
      <p class='crumb'><a href={hrefOf(['workers'])}>Workers</a></p>
      <header class='page-head'>
        <h1>Worker {worker?.host ?? ''} <code class='id'>{id.slice(0, 8)}</code></h1>
        {alive !== undefined && handleDrain !== undefined && (
          <button type='button' onClick={() => { handleDrain(alive) }}>{alive.state === 'working' ? 'Drain' : 'Resume'}</button>
        )}
      </header>
      <Problem error={problem ?? error} />
      {data !== undefined && worker === undefined && (
        <Empty title='This worker is not alive, and went away more than 7 days ago.'><a href={hrefOf(['jobs'], { worker: id })}>The jobs that it ran, as far as they are kept</a></Empty>
      )}
      {gone?.how === 'lost' && (
        <p class='about'>
          It died, or lost Redis. What it ran <a href={hrefOf(['jobs'], { code: 'WORKER_LOST' })}>failed with <code>WORKER_LOST</code></a>, or another
          worker ran it again. If it was not started again, start it; its log, or that of its machine, says why it ended.
        </p>
      )}
      {worker !== undefined && (
        <div class='columns'>
          <Ran id={id} isAlive={alive !== undefined} />
          <div class='column'>
            <Facts name='Details' facts={alive === undefined ? goneFacts(gone) : aliveFacts(alive)} />
            <Changes id={id} />
          </div>
        </div>
      )}
      {dialog}
    </main>
  )
}

type Fact = readonly [name: string, value: ComponentChildren]

function aliveFacts (worker: WorkerView): Fact[] {
  const { state, shortage, queues, places, ran, sandbox, load, version, started_at: since, last_seen_at: seen } = worker
  return [
    ['State', state === 'working' ? 'takes jobs' : <span key='state' class='tag problem'>{state}</span>],
    ['Lacks', shortage === null ? undefined : <strong key='shortage' class='problem'>{shortage}: it can start no process, and takes no jobs until it can</strong>],
    ['Runs', places === null ? undefined : `${places.used} of ${places.total} calls`],
    ['Has run', ran === null ? undefined : `${ran.toLocaleString('en')} calls`],
    ['Queues', queuesText(queues)],
    ['Sandbox', [sandbox.level, ...sandbox.missing.map(layer => `without ${layer}`)].join(', ')],
    ['Load', load === null ? undefined : `${load.average.toFixed(1)} processes want ${load.processors} ${load.processors === 1 ? 'processor' : 'processors'}`],
    ['Memory', load === null ? undefined : bytes(load.memory_bytes)],
    ['Release', version],
    ['Since', <Time key='since' at={since} />],
    ['Last seen', <Time key='seen' at={seen} />]
  ]
}

function goneFacts (worker: GoneWorker | undefined): Fact[] {
  if (worker === undefined) return []
  const { how, ran, queues, version, started_at: since, last_seen_at: seen } = worker
  return [
    ['State', how === 'lost' ? <strong key='state' class='problem'>lost</strong> : 'stopped'],
    ['Has run', ran === null ? undefined : `${ran.toLocaleString('en')} calls`],
    ['Queues', queuesText(queues)],
    ['Release', version],
    ['Since', <Time key='since' at={since} />],
    ['Last seen', <Time key='seen' at={seen} />]
  ]
}

function Facts ({ name, facts }: { name: string, facts: readonly Fact[] }): VNode {
  return (
    <section class='card'>
      <h2>{name}</h2>
      <dl class='facts'>
        {facts.filter(([, value]) => value !== undefined && value !== null)
          .map(([fact, value]) => <div key={fact}><dt>{fact}</dt><dd>{value}</dd></div>)}
      </dl>
    </section>
  )
}

function queuesText (queues: readonly string[]): string {
  return queues.includes('*') ? 'all' : queues.join(', ')
}

/** The jobs that it runs, and those that it ran last. */
function Ran ({ id, isAlive }: { id: string, isAlive: boolean }): VNode {
  const running = useJobs(id, 'running', isAlive)
  const last = useJobs(id, undefined, true)
  const ended = last.data?.jobs.filter(({ status }) => status !== 'running')
  return (
    <div class='column'>
      <Problem error={running.error ?? last.error} />
      {isAlive && (
        <section>
          <h2>Runs now</h2>
          {running.data?.count === 0 ? <p class='soft'>Nothing.</p> : <JobRows jobs={running.data?.jobs} what='Tool' page='jobs' isShort />}
        </section>
      )}
      <section>
        <h2>Ran last</h2>
        {ended?.length === 0 ? <p class='soft'>Nothing that is still kept.</p> : <JobRows jobs={ended} what='Tool' page='jobs' isShort />}
        <p class='after'><a href={hrefOf(['jobs'], { worker: id })}>All jobs that it ran</a></p>
      </section>
    </div>
  )
}

function useJobs (worker: string, status: 'running' | undefined, isAsked: boolean): Loaded<JobList> {
  const { api } = useAccess()
  const search = String(new URLSearchParams({ worker, limit: String(most.jobs), ...status !== undefined && { status } }))
  return useLoad(`${search} ${isAsked}`, async signal => {
    if (!isAsked) return await new Promise<JobList>(() => {})
    return await api.ask<JobList>(`/v1/jobs?${search}`, { signal })
  }, every.now)
}

/** Who drained and resumed it lately; nothing for a key that may not see changes. */
function Changes ({ id }: { id: string }): VNode | null {
  const { api } = useAccess()
  const { data } = useLoad('changes', async signal => await api.ask<ChangeList>(`/v1/audit?limit=${most.changes}`, { signal }), every.changes)
  const own = data?.changes.filter(({ action, target }) => action === 'worker.drain' && target === id) ?? []
  if (own.length === 0) return null
  return (
    <section class='card'>
      <h2>Drained and resumed</h2>
      <ul>{own.map(({ id: change, at, key, about }) => <li key={change}><Time at={at} /> {key} {about['drained'] === true ? 'drained' : 'resumed'} it</li>)}</ul>
    </section>
  )
}
