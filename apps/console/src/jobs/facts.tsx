import type { JobView } from '@toolyard/client'
import type { ComponentChildren, VNode } from 'preact'
import { hrefOf } from '../parts/route.ts'

export function Facts ({ job }: { job: JobView }): VNode {
  const all: ReadonlyArray<readonly [string, ComponentChildren]> = [
    ['Tool', <a key='tool' href={hrefOf(['tools', job.tool])}>{job.tool}</a>],
    ['Queue', filtered({ queue: job.queue })],
    ['Type', filtered({ type: job.type })],
    ['Priority', job.priority],
    ['Runs', runs(job)],
    ['Timeout', `${job.timeout_sec} s`],
    ['Key', job.key === null ? undefined : filtered({ key: job.key })],
    ['Tenant', job.tenant],
    ['Worker', job.worker === null ? undefined : <a key='worker' href={hrefOf(['workers', job.worker])} title={job.worker}><code>{job.worker.slice(0, 8)}</code></a>],
    ['Tags', job.tags.length === 0 ? undefined : job.tags.map(tag => <a key={tag} class='tag' href={hrefOf(['jobs'], { tag })}>{tag}</a>)],
    ['Workflow', job.parent_id !== undefined
      ? <a key='workflow' href={hrefOf(['workflows', job.parent_id])}><code>{job.parent_id.slice(-8)}</code></a>
      : job.type === 'workflow.run' ? <a key='workflow' href={hrefOf(['workflows', job.id])}>its steps</a> : undefined],
    ['Session', job.session === undefined ? undefined : <a key='session' href={hrefOf(['sessions', job.session])}><code>{job.session.slice(-12)}</code></a>],
    ['Request', job.request === undefined ? undefined : <a key='request' href={hrefOf(['jobs'], batchOf(job, job.request))} title='The jobs that the same request made'><code>{job.request.slice(-12)}</code></a>],
    ['Waits for', job.depends_on?.map(id => <div key={id}><JobLink id={id} /></div>)],
    ['Sandbox', job.sandbox === null ? undefined : [job.sandbox.level, ...job.sandbox.missing.map(layer => `without ${layer}`)].join(', ')],
    ['Callback', job.callback_url]
  ]
  const facts = all.filter(([, value]) => value !== undefined && value !== null)
  return (
    <section class='card'>
      <h2>Details</h2>
      <dl class='facts'>
        {facts.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}
      </dl>
    </section>
  )
}

/** A run whose worker was lost is none of the attempts: there may be more runs than these. */
function runs ({ attempts, max_attempts: most }: JobView): string {
  return attempts > most ? `${attempts}, as a worker was lost or the tool asked something` : `${attempts} of at most ${most}`
}

/** The jobs of the same request: they were made together. */
function batchOf ({ created_at: at }: JobView, request: string): Record<string, string> {
  const around = 60_000
  const time = (by: number): string => new Date(Date.parse(at) + by).toISOString()
  return { request, from: time(-around), to: time(around) }
}

/** The jobs that have the same. */
function filtered (query: Record<string, string>): VNode {
  return <a href={hrefOf(['jobs'], query)}>{Object.values(query)[0]}</a>
}

function JobLink ({ id }: { id: string }): VNode {
  return <a href={hrefOf(['jobs', id])}><code>{id.slice(-8)}</code></a>
}
