import type { ComponentChildren, VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { useAccess } from '../access/context.ts'
import { useLoad } from '../access/load.ts'
import { hrefOf } from '../parts/route.ts'
import { themes, type Theme } from './theme.ts'

const paths = {
  overview: 'M3 12h4l3-8 4 16 3-8h4',
  jobs: 'M8 6h13M8 12h13M8 18h13M3 6h.01M3 12h.01M3 18h.01',
  approvals: 'M9 12l2 2 4-4M12 3l8 3v6c0 5-3.500 8-8 9-4.500-1-8-4-8-9V6z',
  tools: 'M14.7 6.3a4 4 0 0 0-5.4 5.4L3 18l3 3 6.300-6.300a4 4 0 0 0 5.400-5.400l-2.600 2.600-2.800-2.800z',
  workflows: 'M6 3v6m0 6v6M6 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6zm3 3h4a5 5 0 0 0 5-5V3',
  sessions: 'M3 6a2 2 0 0 1 2-2h4l2 3h8a2 2 0 0 1 2 2v9a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2z',
  workers: 'M4 4h16v6H4zM4 14h16v6H4zM8 7h.01M8 17h.01',
  audit: 'M12 8v4l3 2M12 3a9 9 0 1 0 9 9M16 3.500l4 1-1 4',
  secrets: 'M5 11h14v10H5zM8 11V7a4 4 0 0 1 8 0v4M12 15v2',
  keys: 'M15 9a4 4 0 1 1-3.900-5 4 4 0 0 1 3.900 5zM11 11l-8 8v2h4v-3h3v-3l2.500-2.500'
} as const

type IconName = keyof typeof paths

/** A page of the console, as the navigation names it. */
export interface Place {
  path: string
  title: string
  icon: IconName
}

interface FrameProps {
  places: readonly Place[]
  /** What is shown, without its filters. */
  address: string
  current: string
  theme: Theme
  onTheme: (theme: Theme) => void
  onLogout: () => void
  children: ComponentChildren
}

const heldEveryMs = 15_000

/** Around every page: where one can go, who one is, how it looks. */
export function Frame ({ places, address, current, theme, onTheme, onLogout, children }: FrameProps): VNode {
  const { api, person } = useAccess()
  const row = useRef<HTMLElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const { data: waiting } = useLoad('held', async signal => await api.ask<{ count: number }>('/v1/jobs?status=held&limit=100', { signal }), heldEveryMs)
  const held = waiting?.count
  const isOperator = person.role === 'admin' && person.tenant === undefined
  // On a narrow page the places are a row that scrolls.
  useEffect(() => {
    const place = row.current?.querySelector<HTMLElement>('[aria-current]')
    if (row.current !== null && place != null) row.current.scrollLeft = place.offsetLeft - (row.current.clientWidth - place.offsetWidth) / 2
  }, [current])
  // The link that led to another page may be gone, and the focus with it.
  const before = useRef(address)
  useEffect(() => {
    if (before.current !== address && document.activeElement === document.body) content.current?.focus({ preventScroll: true })
    before.current = address
  }, [address])
  return (
    <div class='frame'>
      <a class='skip' href='#content' onClick={event => { event.preventDefault(); content.current?.focus() }}>To the content</a>
      <header class='bar'>
        <a class='brand' href={hrefOf([])}><span class='mark' aria-hidden='true'>T</span>Toolyard</a>
        <nav ref={row} class='places' aria-label='Pages'>
          {places.map(({ path, title, icon }) => (
            <a key={path} href={hrefOf([path])} aria-current={current === path ? 'page' : undefined}><Icon name={icon} />{title}{path === 'approvals' && held !== undefined && held > 0 ? <span class='tag' aria-label={`${held} wait`}>{held}</span> : null}</a>
          ))}
        </nav>
        <div class='self'>
          <p class='who'><strong>{person.name}</strong><span class='soft small'>{person.can_write ? '' : person.can_approve ? 'approves' : 'read only'}{person.tenant === undefined ? '' : ` ${person.tenant}`}</span></p>
          {isOperator && <a class='small' href={`${api.base}/dashboard`}>Queue dashboard</a>}
          <a class='small' href={`${api.base}/docs`}>API</a>
          <select aria-label='Theme' class='small' value={theme} onChange={event => { onTheme(themes.find(each => each === event.currentTarget.value) ?? 'system') }}>
            {themes.map(each => <option key={each} value={each}>{each}</option>)}
          </select>
          {person.name !== 'auth-disabled' && <button type='button' class='quiet' onClick={onLogout}>Log out</button>}
        </div>
      </header>
      <div id='content' ref={content} tabIndex={-1}>{children}</div>
    </div>
  )
}

function Icon ({ name }: { name: IconName }): VNode {
  return (
    <svg class='icon' viewBox='0 0 24 24' width='16' height='16' fill='none' stroke='currentColor' stroke-width='2' stroke-linecap='round' stroke-linejoin='round' aria-hidden='true'>
      <path d={paths[name]} />
    </svg>
  )
}
