import type { SessionView } from '@toolyard/contract'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { useAccess } from '../access/context.ts'
import { asError, useLoad } from '../access/load.ts'
import { Empty, Problem } from '../parts/notice.tsx'
import { hrefOf, type Route } from '../parts/route.ts'
import { TenantFilter } from '../parts/tenant-filter.tsx'
import { Time } from '../parts/time.tsx'
import { bytes } from '../parts/times.ts'
import { fullnessOf } from './fullness.ts'

const everyMs = 5_000

interface SessionPage {
  sessions: SessionView[]
  next_cursor: string | null
}

/** The sessions, newest first; for operators the shared workspace too. */
export function SessionsPage ({ route }: { route: Route }): VNode {
  const { api, person } = useAccess()
  const [cursor, tenant] = ['cursor', 'tenant'].map(name => route.query.get(name) ?? undefined)
  const path = `/v1/sessions?${String(new URLSearchParams({ limit: '50', ...cursor !== undefined && { cursor }, ...tenant !== undefined && { tenant } }))}`
  const { data, error } = useLoad(path, async signal => await api.ask<SessionPage>(path, { signal }), everyMs)
  const [problem, setProblem] = useState<Error>()
  async function make (): Promise<void> {
    await api.ask<{ session: SessionView }>('/v1/sessions', { method: 'POST', body: {} })
      .then(({ session: { id } }) => { location.hash = hrefOf(['sessions', id]) }, (caught: unknown) => { setProblem(asError(caught)) })
  }
  return (
    <main>
      <header class='page-head'>
        <h1>Sessions</h1>
        <div class='actions'>
          {person.tenant === undefined && <a class='button' href={hrefOf(['sessions', 'shared'])}>Shared workspace</a>}
          {person.can_write && <button type='button' class='primary' onClick={() => { void make() }}>Make a session</button>}
        </div>
      </header>
      {person.tenant === undefined && <TenantFilter page='sessions' label='Filter sessions' tenant={tenant} />}
      <Problem error={problem ?? error} />
      {data?.sessions.length === 0
        ? <Empty title='No sessions.'><p>A session is a workspace of its own: its files are seen by the calls that name it, and by no others.</p></Empty>
        : <SessionTable sessions={data?.sessions} />}
      <nav class='pages' aria-label='Parts of the list'>
        {cursor !== undefined && <a class='button' href={hrefOf(['sessions'], { tenant })}>Newest</a>}
        {data?.next_cursor != null && <a class='button' href={hrefOf(['sessions'], { tenant, cursor: data.next_cursor })}>Older</a>}
      </nav>
    </main>
  )
}

function SessionTable ({ sessions }: { sessions: readonly SessionView[] | undefined }): VNode {
  return (
    <div class='table-frame' aria-busy={sessions === undefined}>
      <table class='dense listing'>
        <thead><tr><th>Session</th><th class='wide'>Tenant</th><th class='wide'>Made by</th><th>Files take</th><th>Last used</th><th class='wide'>Ends</th></tr></thead>
        <tbody>
          {sessions?.map(({ id, tenant, key, state, quota_bytes: quota, used_bytes: used, last_used_at: last, expires_at: expires }) => (
            <tr key={id}>
              <td><a class='row-link' href={hrefOf(['sessions', id])}><code>{id.slice(-12)}</code></a>{state === 'removing' && <span class='soft small'> is removed</span>}</td>
              <td class='wide'>{tenant ?? <span class='soft'>operator</span>}</td>
              <td class='wide'>{key}</td>
              <td>{used === null ? '–' : <><meter min={0} max={quota} value={used} aria-label='Of its quota' /> {bytes(used)} <Fullness used={used} quota={quota} /></>}</td>
              <td><Time at={last} /></td>
              <td class='wide'><Time at={expires} /></td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Says that a session is full, or almost; nothing for one with room. */
export function Fullness ({ used, quota }: { used: number | null, quota: number }): VNode | null {
  const fullness = fullnessOf({ used_bytes: used, quota_bytes: quota })
  return fullness === undefined ? null : <strong class='problem' title={`Its files may take ${bytes(quota)}`}>{fullness}</strong>
}
