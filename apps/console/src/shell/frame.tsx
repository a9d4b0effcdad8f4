import type { ComponentChildren, VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { useAccess } from '../access/context.ts'
import { useLoad } from '../access/load.ts'
import { Icon, type IconName } from './icons.tsx'
import { hrefOf } from '../parts/route.ts'
import { themes, type Theme } from './theme.ts'

/** A page of the console, as the navigation names it. */
export interface Place {
  path: string
  title: string
  icon: IconName
}

export interface FrameProps {
  places: readonly Place[]
  current: string
  theme: Theme
  onTheme: (theme: Theme) => void
  onLogout: () => void
  children: ComponentChildren
}

const heldEveryMs = 15_000

/** What surrounds every page: where one can go, who one is, how it looks. */
export function Frame ({ places, current, theme, onTheme, onLogout, children }: FrameProps): VNode {
  const { api, person } = useAccess()
  const row = useRef<HTMLElement>(null)
  const { data: waiting } = useLoad('held', async signal => await api.ask<{ count: number }>('/v1/jobs?status=held&limit=100', { signal }), heldEveryMs)
  const held = waiting?.count
  const isOperator = person.role === 'admin' && person.tenant === undefined
  // On a narrow page the places are a row that scrolls.
  useEffect(() => {
    const place = row.current?.querySelector<HTMLElement>('[aria-current]')
    if (row.current !== null && place != null) row.current.scrollLeft = place.offsetLeft - (row.current.clientWidth - place.offsetWidth) / 2
  }, [current])
  return (
    <div class='frame'>
      <a class='skip' href='#main' onClick={event => { event.preventDefault(); document.querySelector<HTMLElement>('main')?.focus() }}>To the content</a>
      <header class='bar'>
        <a class='brand' href={hrefOf([])}><span class='mark' aria-hidden='true'>T</span>Toolyard</a>
        <nav ref={row} class='places' aria-label='Pages'>
          {places.map(({ path, title, icon }) => (
            <a key={path} href={hrefOf([path])} aria-current={current === path ? 'page' : undefined}><Icon name={icon} />{title}{path === 'approvals' && held !== undefined && held > 0 ? <span class='tag' aria-label={`${held} wait`}>{held}</span> : null}</a>
          ))}
        </nav>
        <div class='self'>
          <p class='who'><strong>{person.name}</strong><span class='soft small'>{person.can_write ? '' : 'read only'}{person.tenant === undefined ? '' : ` ${person.tenant}`}</span></p>
          {isOperator && <a class='small' href={`${api.base}/dashboard`}>Queue dashboard</a>}
          <a class='small' href={`${api.base}/docs`}>API</a>
          <select aria-label='Theme' class='small' value={theme} onChange={event => { onTheme(themes.find(each => each === event.currentTarget.value) ?? 'system') }}>
            {themes.map(each => <option key={each} value={each}>{each}</option>)}
          </select>
          {person.name !== 'auth-disabled' && <button type='button' class='quiet' onClick={onLogout}>Log out</button>}
        </div>
      </header>
      {children}
    </div>
  )
}
