import { pathSegment } from '@toolyard/client'
import type { SessionView } from '@toolyard/contract'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { useAccess } from '../access/context.ts'
import { asError, useLoad } from '../access/load.ts'
import { Copy } from '../parts/copy.tsx'
import { Confirm } from '../parts/dialog.tsx'
import { Empty, Problem } from '../parts/notice.tsx'
import { hrefOf, type Route } from '../parts/route.ts'
import { Time } from '../parts/time.tsx'
import { bytes } from '../parts/times.ts'
import { FileBrowser } from './browser.tsx'
import { Fullness } from './sessions.tsx'

const everyMs = 10_000

export function SessionPage ({ id, route }: { id: string, route: Route }): VNode {
  const { api, person } = useAccess()
  const path = `/v1/sessions/${pathSegment(id)}`
  const { data, error } = useLoad(path, async signal => await api.ask<{ session: SessionView }>(path, { signal }), everyMs)
  const [isAsking, setAsking] = useState(false)
  const [problem, setProblem] = useState<Error>()
  async function remove (): Promise<void> {
    await api.ask(path, { method: 'DELETE' }).then(() => { location.hash = hrefOf(['sessions']) }, (caught: unknown) => { setProblem(asError(caught)) })
  }
  const session = data?.session
  return (
    <main>
      <p class='crumb'><a href={hrefOf(['sessions'])}>Sessions</a></p>
      <header class='page-head'>
        <h1>Session {id.slice(-12)}</h1>
        {session?.state === 'open' && person.can_write && <button type='button' onClick={() => { setAsking(true) }}>Remove session</button>}
      </header>
      <p class='soft id-line'><code>{id}</code> <Copy text={id} label='Copy the id' /></p>
      {session === undefined && error !== undefined && (
        <Empty title={error.message}><p>A session that nobody uses is removed when its time is over.</p></Empty>
      )}
      <Problem error={problem} />
      {session !== undefined && (
        <>
          <Facts session={session} />
          <FileBrowser place={{ path: `${path}/files`, page: ['sessions', id] }} route={route} canChange={person.can_write && session.state === 'open'} />
        </>
      )}
      {isAsking && (
        <Confirm title='Remove this session?' action='Remove the session' onConfirm={() => { void remove() }} onClose={() => { setAsking(false) }}>
          <p>Its calls are cancelled, and its files are gone. This can't be undone.</p>
        </Confirm>
      )}
    </main>
  )
}

function Facts ({ session }: { session: SessionView }): VNode {
  const { tenant, key, from, quota_bytes: quota, used_bytes: used, last_used_at: last, expires_at: expires } = session
  return (
    <dl class='strip'>
      <div><dt>Tenant</dt><dd>{tenant ?? 'operator'}</dd></div>
      <div><dt>Made by</dt><dd>{key}</dd></div>
      {from !== null && <div><dt>From</dt><dd>{from}</dd></div>}
      <div><dt>Files take</dt><dd>{used === null ? '–' : bytes(used)} of {bytes(quota)} <Fullness used={used} quota={quota} /></dd></div>
      <div><dt>Last used</dt><dd><Time at={last} /></dd></div>
      <div><dt>Ends</dt><dd><Time at={expires} /></dd></div>
    </dl>
  )
}

/** The workspace of all calls that name no session. */
export function SharedWorkspacePage ({ route }: { route: Route }): VNode {
  const { person } = useAccess()
  return (
    <main>
      <p class='crumb'><a href={hrefOf(['sessions'])}>Sessions</a></p>
      <header class='page-head'><h1>Shared workspace</h1></header>
      <p class='about'>What calls see that name no session. Its files are <code>/v1/files</code> of the API.</p>
      <FileBrowser place={{ path: '/v1/files', page: ['sessions', 'shared'] }} route={route} canChange={person.can_write} />
    </main>
  )
}
