import { jobStates, type Person } from './terms.ts'
import type { VNode } from 'preact'
import { hrefOf } from '../parts/route.ts'

/** A filter that is a text. */
interface Filter {
  name: string
  label: string
  /** For those who see the jobs of all tenants. */
  operatorOnly?: true
}

const filters: readonly Filter[] = [
  { name: 'type', label: 'Type' },
  { name: 'queue', label: 'Queue' },
  { name: 'tag', label: 'Tag' },
  { name: 'tenant', label: 'Tenant', operatorOnly: true }
]

/** What `GET /v1/jobs` is asked, of what the address says. */
export function queryOf (address: URLSearchParams): Record<string, string> {
  const known = ['status', 'cursor', ...filters.map(({ name }) => name)]
  return Object.fromEntries(known.flatMap(name => {
    const value = address.get(name)
    return value === null || value === '' ? [] : [[name, value]]
  }))
}

/** The filters of the list, which are in the address. */
export function Filters ({ query, person }: { query: Readonly<Record<string, string>>, person: Person }): VNode {
  const { cursor: _, ...kept } = query
  const set = (name: string, value: string): void => { location.hash = hrefOf(['jobs'], { ...kept, [name]: value.trim() }) }
  return (
    <form class='filters' role='search' aria-label='Filter jobs' onSubmit={event => { event.preventDefault() }}>
      <nav class='pills' aria-label='State'>
        {[undefined, ...jobStates].map(status => (
          <a key={status} href={hrefOf(['jobs'], { ...kept, status })} aria-current={kept['status'] === status ? 'true' : undefined}>{status ?? 'all'}</a>
        ))}
      </nav>
      {filters.filter(({ operatorOnly }) => operatorOnly !== true || person.tenant === undefined).map(({ name, label }) => (
        <input
          key={name} type='search' name={name} aria-label={label} placeholder={label} autocomplete='off' spellcheck={false}
          value={kept[name] ?? ''} onChange={event => { set(name, event.currentTarget.value) }}
        />
      ))}
    </form>
  )
}
