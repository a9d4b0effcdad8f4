import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { hrefOf } from '../parts/route.ts'

type Query = Readonly<Record<string, string>>
interface Saved { name: string, query: Query }

const place = 'toolyard-job-filters'

/**
 * Filters with a name. They are kept in this browser; the name stands in the address too, so that a link which somebody
 * passes on has it.
 */
export function SavedFilters ({ query, name }: { query: Query, name: string | null }): VNode | null {
  const [saved, setSaved] = useState(read)
  const [typed, setTyped] = useState('')
  const keep = (next: readonly Saved[]): void => {
    setSaved(next)
    try {
      localStorage.setItem(place, JSON.stringify(next))
    } catch {
      // A browser that keeps nothing shows them until it is closed.
    }
  }
  const isFiltered = Object.keys(query).length > 0
  if (saved.length === 0 && !isFiltered) return null
  const isSaved = saved.some(each => each.name === name)
  const save = (wanted: string): void => {
    if (wanted === '') return
    keep([...saved.filter(each => each.name !== wanted), { name: wanted, query }])
    setTyped('')
    location.hash = hrefOf(['jobs'], { ...query, name: wanted })
  }
  return (
    <div class='saved-filters'>
      {saved.length > 0 && (
        <nav class='pills' aria-label='Saved filters'>
          {saved.map(each => <a key={each.name} href={hrefOf(['jobs'], { ...each.query, name: each.name })} aria-current={each.name === name ? 'true' : undefined}>{each.name}</a>)}
        </nav>
      )}
      {isFiltered && (
        <form onSubmit={event => { event.preventDefault(); save(typed.trim()) }}>
          <input type='text' aria-label='Name for these filters' placeholder='Name these filters' maxLength={40} autocomplete='off' value={typed} onInput={event => { setTyped(event.currentTarget.value) }} />
          <button class='small-button' disabled={typed.trim() === ''}>Save</button>
        </form>
      )}
      {name !== null && isSaved && <button type='button' class='small-button' onClick={() => { keep(saved.filter(each => each.name !== name)); location.hash = hrefOf(['jobs'], query) }}>Forget “{name}”</button>}
    </div>
  )
}

/** The stored text may be anything: another page of this host could have written it. */
function read (): readonly Saved[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(place) ?? '[]')
    return Array.isArray(kept) ? kept.filter(isSavedFilter) : []
  } catch {
    return []
  }
}

function isSavedFilter (value: unknown): value is Saved {
  if (typeof value !== 'object' || value === null || !('name' in value) || !('query' in value)) return false
  const { name, query } = value
  return typeof name === 'string' && typeof query === 'object' && query !== null && Object.values(query).every(each => typeof each === 'string')
}
