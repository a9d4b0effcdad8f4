import type { ChangeList, ChangeView } from '@toolyard/contract'
import type { VNode } from 'preact'
import { useAccess } from '../access/context.ts'
import { useLoad } from '../access/load.ts'
import { Name } from '../parts/long-text.tsx'
import { Empty, Problem } from '../parts/notice.tsx'
import { hrefOf, type Route } from '../parts/route.ts'
import { TenantFilter } from '../parts/tenant-filter.tsx'
import { Time } from '../parts/time.tsx'

const everyMs = 5_000
const words: Readonly<Record<string, string>> = {
  'approval.decide': 'decided about the held call',
  'job.answer': 'answered the question of the job',
  'job.cancel': 'cancelled the job',
  'job.promote': 'let run at once the job',
  'job.remove': 'removed the job',
  'jobs.change': 'changed many jobs',
  'jobs.stop_change': 'stopped a change of many jobs',
  'key.make': 'made the key',
  'key.revoke': 'revoked the key',
  'secret.remove': 'removed the secret',
  'secret.set': 'stored the secret',
  'secrets.rotate': 'sealed all secrets anew',
  'session.remove': 'removed the session',
  'tool.switch': 'changed the settings of the type'
}

export function AuditPage ({ route }: { route: Route }): VNode {
  const { api, person } = useAccess()
  const [cursor, tenant] = [route.query.get('cursor'), route.query.get('tenant') ?? undefined]
  const search = String(new URLSearchParams({ limit: '50', ...cursor !== null && { cursor }, ...tenant !== undefined && { tenant } }))
  const { data, error } = useLoad(search, async signal => await api.ask<ChangeList>(`/v1/audit?${search}`, { signal }), everyMs)
  return (
    <main>
      <header class='page-head'>
        <h1>Audit</h1>
        <p class='soft small'>Who has changed what, in the console or by the API.</p>
      </header>
      {person.tenant === undefined && <TenantFilter page='audit' label='Filter changes' tenant={tenant} />}
      <Problem error={error} />
      {data?.changes.length === 0 ? <Empty title='Nobody has changed anything yet.' /> : <Changes changes={data?.changes} />}
      <nav class='pages' aria-label='Parts of the list'>
        {cursor !== null && <a class='button' href={hrefOf(['audit'], { tenant })}>Newest</a>}
        {data?.next_cursor != null && <a class='button' href={hrefOf(['audit'], { tenant, cursor: data.next_cursor })}>Older</a>}
      </nav>
    </main>
  )
}

function Changes ({ changes }: { changes: readonly ChangeView[] | undefined }): VNode {
  return (
    <div class='table-frame' role='region' aria-label='Changes' tabIndex={0} aria-busy={changes === undefined}>
      <table class='dense listing audit'>
        <thead><tr><th class='c-when'>When</th><th class='c-key'>Key</th><th>What it did</th></tr></thead>
        <tbody>
          {changes?.map(({ id, at, key, tenant, action, target, about }) => (
            <tr key={id}>
              <td><Time at={at} /></td>
              <td class='wraps'><Name text={key} />{tenant !== null && <span class='soft'> {tenant}</span>}</td>
              <td class='wraps'>{wordsOf(action, about)} <Target action={action} target={target} /> <span class='soft'><Name text={sentence(about)} /></span></td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function wordsOf (action: string, about: ChangeView['about']): string {
  if (action === 'queue.switch') return `${about['paused'] === true ? 'paused' : 'resumed'} the queue`
  if (action === 'worker.drain') return `${about['drained'] === true ? 'drained' : 'resumed'} the worker`
  return words[action] ?? action
}

function Target ({ action, target }: Pick<ChangeView, 'action' | 'target'>): VNode | null {
  if (target === null) return null
  if (action.startsWith('job.') || action === 'approval.decide') return <a href={hrefOf(['jobs', target])}><code>{target.slice(-8)}</code></a>
  return <code title={target}><Name text={action.startsWith('session.') ? target.slice(-12) : target} /></code>
}

function sentence (about: ChangeView['about']): string {
  return Object.entries(about).filter(([name]) => name !== 'digest').map(([name, value]) => `${name}: ${String(value)}`).join(', ')
}
