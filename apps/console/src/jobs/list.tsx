import type { JobList, JobSummary } from '@toolyard/client'
import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useAccess } from '../access/context.ts'
import { useLoad } from '../access/load.ts'
import { Name } from '../parts/long-text.tsx'
import { Empty, Problem } from '../parts/notice.tsx'
import { ProgressBar, Status } from '../parts/status.tsx'
import { Time } from '../parts/time.tsx'
import { hrefOf, type Route } from '../parts/route.ts'
import { useKeys } from '../parts/keys.ts'
import { Bulk } from './bulk.tsx'
import { Filters, queryOf } from './filters.tsx'
import { Durations } from './course/durations.tsx'
import { SavedFilters } from './saved-filters.tsx'
import { Ticked } from './ticked.tsx'
import { lastLine } from './course/terms.ts'
import { Waterfall, type Lane } from './course/waterfall.tsx'

const everyMs = 2_000
const pageSize = 50

export function JobsPage ({ route }: { route: Route }): VNode {
  const { api, person } = useAccess()
  const query = queryOf(route.query)
  const search = String(new URLSearchParams({ ...query, limit: String(pageSize), preview: 'true' }))
  const { data, error, reload } = useLoad(search, async signal => await api.ask<JobList>(`/v1/jobs?${search}`, { signal }), everyMs)
  const page = useRef<HTMLElement>(null)
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set())
  // Ticks are for this page of the list.
  useEffect(() => { setTicked(new Set()) }, [search])
  const tick = (ids: readonly string[], isTicked: boolean): void => {
    setTicked(known => new Set(isTicked ? [...known, ...ids] : [...known].filter(id => !ids.includes(id))))
  }
  useKeys({
    j: () => { move(page.current, 1) },
    k: () => { move(page.current, -1) },
    '/': () => { page.current?.querySelector<HTMLInputElement>('input[type=search]')?.focus() },
    Escape: () => { if (Object.keys(query).length > 0) location.hash = hrefOf(['jobs']) }
  })
  const { cursor: _, order = 'newest', ...filters } = query
  const isOldestFirst = order === 'oldest'
  // The usual order is left out of the address.
  const inOrder = isOldestFirst ? { ...filters, order } : filters
  return (
    <main ref={page}>
      <header class='page-head'>
        <h1>Jobs</h1>
        <p class='soft small hint'><kbd>j</kbd> <kbd>k</kbd> move, <kbd>Enter</kbd> opens, <kbd>/</kbd> filters, <kbd>Esc</kbd> clears</p>
      </header>
      <Filters query={query} person={person} />
      <SavedFilters query={inOrder} name={route.query.get('name')} />
      <Bulk filter={filters} />
      {person.can_write && <Ticked ids={ticked} onDone={() => { setTicked(new Set()); reload() }} />}
      <Problem error={error} />
      {query['request'] !== undefined && data !== undefined && <Waterfall lanes={lanesOf(data.jobs)} title={took => `One request: ${data.jobs.length} ${data.jobs.length === 1 ? 'job' : 'jobs'} in ${took}`} />}
      <JobTable jobs={data?.jobs} ticked={person.can_write ? ticked : undefined} onTick={tick} isFiltered={Object.keys(filters).length > 0} isOldestFirst={isOldestFirst} turned={hrefOf(['jobs'], { ...filters, order: isOldestFirst ? undefined : 'oldest' })} />
      <nav class='pages' aria-label='Parts of the list'>
        {query['cursor'] !== undefined && <a class='button' href={hrefOf(['jobs'], inOrder)}>{isOldestFirst ? 'Oldest' : 'Newest'}</a>}
        {data?.next_cursor != null && <a class='button' href={hrefOf(['jobs'], { ...inOrder, cursor: data.next_cursor })}>{isOldestFirst ? 'Newer' : 'Older'}</a>}
      </nav>
    </main>
  )
}

/** A list may be the newest first; the jobs of a request are shown as they were made. */
function lanesOf (jobs: readonly JobSummary[]): Lane[] {
  return [...jobs].sort((a, b) => a.id < b.id ? -1 : 1)
    .map(job => ({ id: job.id, name: job.tool, status: job.status, course: job, took: <Durations job={job} /> }))
}

interface JobTableProps extends Ticks {
  jobs: readonly JobSummary[] | undefined
  isFiltered: boolean
  isOldestFirst: boolean
  /** Where the same list is in the other order. */
  turned: string
}

interface Ticks {
  /** Undefined for who can change nothing. */
  ticked: ReadonlySet<string> | undefined
  onTick: (ids: readonly string[], isTicked: boolean) => void
}

function JobTable ({ jobs, isFiltered, isOldestFirst, turned, ticked, onTick }: JobTableProps): VNode {
  if (jobs?.length === 0) return <NoJobs isFiltered={isFiltered} />
  return (
    <div class='table-frame' aria-busy={jobs === undefined}>
      <table class='dense jobs'>
        <thead><tr>{ticked !== undefined && <th class='c-tick'><input type='checkbox' aria-label='Tick all' checked={ticked.size > 0 && ticked.size === jobs?.length} onChange={event => { onTick(jobs?.map(({ id }) => id) ?? [], event.currentTarget.checked) }} /></th>}<th class='c-status'><span class='word'>State</span></th><th>Tool</th><th class='c-queue wide'>Queue</th><th class='c-time' aria-sort={isOldestFirst ? 'ascending' : 'descending'}><a class='sort' href={turned} title={isOldestFirst ? 'Show the newest first' : 'Show the oldest first'}>Submitted <span aria-hidden='true'>{isOldestFirst ? '↑' : '↓'}</span></a></th><th class='c-took wide'>Waited, ran</th><th class='c-error wide'>Error</th></tr></thead>
        <tbody>{jobs?.map(job => <Row key={job.id} job={job} ticked={ticked} onTick={onTick} />)}</tbody>
      </table>
    </div>
  )
}

/** The tag of every call of an agent, which tells nothing of this one. */
const ofAgents = 'agent-tool'

function Row ({ job, ticked, onTick }: { job: JobSummary } & Ticks): VNode {
  return (
    <tr class='opens' onClick={event => { open(event, job.id) }}>
      {ticked !== undefined && <td class='c-tick'><input type='checkbox' aria-label={`Tick ${job.tool} ${job.id.slice(-8)}`} checked={ticked.has(job.id)} onChange={event => { onTick([job.id], event.currentTarget.checked) }} /></td>}
      <td><Status status={job.status} /></td>
      <td class='what'><a class='row-link' href={hrefOf(['jobs', job.id])}><Name text={job.tool} /></a> <code class='id'>{job.id.slice(-8)}</code>{job.tags.filter(tag => tag !== ofAgents).map(tag => <span key={tag} class='tag'>{tag}</span>)}{job.input_preview !== '{}' && <span class='input wide' title={job.input_preview}>{job.input_preview}</span>}<ProgressBar job={job} /></td>
      <td class='wide'>{job.queue}</td>
      <td><Time at={job.created_at} /></td>
      <td class='wide'><Durations job={job} /></td>
      <td class='wide clip' title={job.error?.message}>{job.error === null ? '' : <><code>{job.error.code}</code> {lastLine(job.error.message)}</>}</td>
    </tr>
  )
}

/** The whole row leads to the job; a link in it leads where it says, and a text that is being marked stays. */
function open (event: MouseEvent, id: string): void {
  const isElsewhere = event.target instanceof Element && event.target.closest('a, button, .c-tick') !== null
  if (!isElsewhere && getSelection()?.isCollapsed !== false) location.hash = hrefOf(['jobs', id])
}

function NoJobs ({ isFiltered }: { isFiltered: boolean }): VNode {
  if (isFiltered) return <Empty title='No job fits these filters.'><a href={hrefOf(['jobs'])}>Show all jobs</a></Empty>
  return <Empty title='No jobs yet.'><p>A job appears here as soon as an agent calls a tool. You can call one yourself: <a href={hrefOf(['tools'])}>choose a tool</a>.</p></Empty>
}

/** Moves the focus between the rows; the row of a link is what has the focus. */
function move (page: HTMLElement | null, by: number): void {
  const links = [...page?.querySelectorAll<HTMLElement>('.row-link') ?? []]
  const at = links.findIndex(link => link === document.activeElement)
  links[at === -1 ? 0 : Math.min(links.length - 1, Math.max(0, at + by))]?.focus()
}
