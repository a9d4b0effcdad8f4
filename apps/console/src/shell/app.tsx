import type { VNode } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Api, ApiError } from '../access/api.ts'
import { AccessContext, type Access, type Person } from '../access/context.ts'
import { Login } from '../access/login.tsx'
import { SessionPage, SharedWorkspacePage } from '../files/session.tsx'
import { SessionsPage } from '../files/sessions.tsx'
import { ApprovalsPage } from '../approvals/approvals.tsx'
import { JobPage } from '../jobs/job.tsx'
import { JobsPage } from '../jobs/list.tsx'
import { NowContext, useClock } from '../parts/time.tsx'
import { Empty } from '../parts/notice.tsx'
import { Frame, type Place } from './frame.tsx'
import { hrefOf, useRoute, type Route } from '../parts/route.ts'
import { OverviewPage } from '../overview/overview.tsx'
import { AuditPage } from '../operation/audit.tsx'
import { KeysPage } from '../operation/keys.tsx'
import { SecretsPage } from '../operation/secrets.tsx'
import { WorkerPage } from '../operation/worker.tsx'
import { WorkersPage } from '../operation/workers.tsx'
import { ToolsPage } from '../tools/list.tsx'
import { ToolPage } from '../tools/tool.tsx'
import { WorkflowsPage } from '../workflows/list.tsx'
import { WorkflowPage } from '../workflows/workflow.tsx'
import { useTheme } from './theme.ts'

const places: ReadonlyArray<Place & { /** For keys without a tenant; for their admins; for all admins. */ isFor?: 'operators' | 'admins' | 'all admins' }> = [
  { path: 'overview', title: 'Overview', icon: 'overview' },
  { path: 'jobs', title: 'Jobs', icon: 'jobs' },
  { path: 'approvals', title: 'Approvals', icon: 'approvals' },
  { path: 'tools', title: 'Tools', icon: 'tools' },
  { path: 'workflows', title: 'Workflows', icon: 'workflows' },
  { path: 'sessions', title: 'Sessions', icon: 'sessions' },
  { path: 'workers', title: 'Workers', icon: 'workers', isFor: 'operators' },
  { path: 'keys', title: 'Keys', icon: 'keys', isFor: 'admins' },
  { path: 'secrets', title: 'Secrets', icon: 'secrets', isFor: 'all admins' },
  { path: 'audit', title: 'Audit', icon: 'audit', isFor: 'all admins' }
]

/** Who looks at the page: nobody known yet, nobody, or a person. */
type Visitor = { kind: 'unknown', problem?: string } | { kind: 'nobody', notice?: string } | { kind: 'person', person: Person }

/** The console: a login, then the page that the address names. */
export function App ({ base }: { base: string }): VNode {
  const [visitor, setVisitor] = useState<Visitor>({ kind: 'unknown' })
  const [theme, setTheme] = useTheme()
  const api = useMemo(() => new Api(base, () => {
    // Requests may be refused together: only the first of them ends the login.
    setVisitor(known => {
      if (known.kind === 'nobody') return known
      return known.kind === 'person' ? { kind: 'nobody', notice: 'Your login is over: its time has passed, its key was revoked, or another tab has logged in with another key.' } : { kind: 'nobody' }
    })
  }), [base])

  async function meet (): Promise<void> {
    api.shownKey = undefined
    try {
      const { auth: person } = await api.ask<{ auth: Person }>('/v1/auth/whoami')
      api.shownKey = person.name
      setVisitor({ kind: 'person', person })
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 401)) setVisitor({ kind: 'unknown', problem: error instanceof Error ? error.message : String(error) })
    }
  }
  async function logOut (): Promise<void> {
    await api.ask('/v1/auth/logout', { method: 'POST' }).catch(() => {})
    setVisitor({ kind: 'nobody', notice: 'You are logged out.' })
  }
  useEffect(() => { void meet() }, [api])

  /** Who came from the dashboard to log in goes back to it. */
  function enter (): void {
    if (new URLSearchParams(location.search).get('then') === 'dashboard') location.replace(`${base}/dashboard`)
    else void meet()
  }

  if (visitor.kind === 'nobody') return <Login api={api} notice={visitor.notice} onLogin={enter} />
  if (visitor.kind === 'unknown') return <Waiting problem={visitor.problem} onRetry={() => { void meet() }} />
  return <Pages access={{ api, person: visitor.person }} frame={{ theme, onTheme: setTheme, onLogout: () => { void logOut() } }} />
}

function Waiting ({ problem, onRetry }: { problem: string | undefined, onRetry: () => void }): VNode {
  if (problem === undefined) return <main class='login' aria-busy />
  return <main class='login'><div class='card'><h1>Toolyard</h1><p class='problem' role='alert'>{problem}</p><button type='button' onClick={onRetry}>Try again</button></div></main>
}

function Pages ({ access, frame }: { access: Access, frame: Pick<Parameters<typeof Frame>[0], 'theme' | 'onTheme' | 'onLogout'> }): VNode {
  const route = useRoute()
  const now = useClock()
  const [current = 'overview'] = route.path
  // Where Esc leads from a job: the list as it was.
  const list = useRef(hrefOf(['jobs']))
  if (current === 'jobs' && route.path.length === 1) list.current = location.hash
  const title = places.find(({ path }) => path === current)?.title ?? 'Not found'
  const shown = places.filter(({ isFor }) => isFor === undefined || isOpen(isFor, access.person))
  useEffect(() => { document.title = `${title} · Toolyard` }, [title])
  return (
    <AccessContext.Provider value={access}>
      <NowContext.Provider value={now}>
        <Frame {...frame} places={shown} address={route.path.join('/')} current={current}>
          {title !== 'Not found' && !shown.some(({ path }) => path === current)
            ? <main><h1>{title}</h1><Empty title='This page is not for your key.'><a href={hrefOf([])}>To the overview</a></Empty></main>
            : <Page current={current} route={route} list={list.current} />}
        </Frame>
      </NowContext.Provider>
    </AccessContext.Provider>
  )
}

function Page ({ current, route, list }: { current: string, route: Route, list: string }): VNode {
  const [, id] = route.path
  if (current === 'tools') return id === undefined ? <ToolsPage route={route} /> : <ToolPage key={id} name={id} like={route.query.get('job')} />
  if (current === 'workflows') return id === undefined ? <WorkflowsPage route={route} /> : <WorkflowPage key={id} id={id} />
  if (current === 'sessions') return <Files id={id} route={route} />
  if (current === 'approvals') return <ApprovalsPage key={`${id} ${route.query}`} id={id} route={route} />
  if (current === 'workers') return id === undefined ? <WorkersPage /> : <WorkerPage key={id} id={id} />
  if (current === 'keys') return <KeysPage />
  if (current === 'secrets') return <SecretsPage />
  if (current === 'audit') return <AuditPage route={route} />
  if (current === 'overview') return <OverviewPage route={route} />
  if (current === 'jobs') return id === undefined ? <JobsPage route={route} /> : <JobPage key={id} id={id} back={list} />
  return <main><h1>Not found</h1><Empty title='There is no such page.'><a href={hrefOf([])}>To the overview</a></Empty></main>
}

function Files ({ id, route }: { id: string | undefined, route: Route }): VNode {
  if (id === undefined) return <SessionsPage route={route} />
  return id === 'shared' ? <SharedWorkspacePage route={route} /> : <SessionPage key={id} id={id} route={route} />
}

function isOpen (to: 'operators' | 'admins' | 'all admins', { tenant, role, name }: Person): boolean {
  if (to === 'all admins') return role === 'admin'
  return tenant === undefined && (to === 'operators' || (role === 'admin' && name !== 'auth-disabled'))
}
