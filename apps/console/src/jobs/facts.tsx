import type { JobView } from '@toolyard/client'
import type { ComponentChildren, VNode } from 'preact'
import { hrefOf } from '../parts/route.ts'

/** What there is to know of a job beside what it does. */
export function Facts ({ job }: { job: JobView }): VNode {
  const all: ReadonlyArray<readonly [string, ComponentChildren]> = [
    ['Queue', filtered({ queue: job.queue })],
    ['Type', filtered({ type: job.type })],
    ['Priority', job.priority],
    ['Attempts', `${job.attempts} of ${job.max_attempts}`],
    ['Timeout', `${job.timeout_sec} s`],
    ['Key', job.key],
    ['Tenant', job.tenant],
    ['Worker', job.worker === null ? undefined : <code key='worker'>{job.worker}</code>],
    ['Tags', job.tags.length === 0 ? undefined : job.tags.map(tag => <a key={tag} class='tag' href={hrefOf(['jobs'], { tag })}>{tag}</a>)],
    ['Workflow', job.parent_id === undefined ? undefined : <JobLink id={job.parent_id} />],
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

/** The jobs that have the same. */
function filtered (query: Record<string, string>): VNode {
  return <a href={hrefOf(['jobs'], query)}>{Object.values(query)[0]}</a>
}

function JobLink ({ id }: { id: string }): VNode {
  return <a href={hrefOf(['jobs', id])}><code>{id.slice(-8)}</code></a>
}
