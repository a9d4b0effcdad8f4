import { callErrors } from '@toolyard/contract/terms'
import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { hrefOf } from '../parts/route.ts'
import { exact } from '../parts/time.tsx'
import { jobStates, type Person } from './terms.ts'

/** A filter that is a text. */
interface Filter {
  name: string
  label: string
  /** Where the label is too long for the field. */
  hint?: string
  /** For those who see the jobs of all tenants. */
  operatorOnly?: true
}

const texts: readonly Filter[] = [
  { name: 'text', label: 'Text in arguments or error, or an id', hint: "Text, or a job's id" },
  { name: 'tool', label: 'Tool' },
  { name: 'queue', label: 'Queue' },
  { name: 'key', label: 'Key' },
  { name: 'tenant', label: 'Tenant', operatorOnly: true }
]
/** Filters that come from links: they are shown, and can be taken away. */
const linked = ['type', 'tag', 'worker', 'session', 'request', 'to'] as const
const jobId = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i
const spans: ReadonlyArray<readonly [minutes: number, label: string]> = [[15, 'the last 15 min'], [60, 'the last hour'], [1_440, 'the last day']]

/** What `GET /v1/jobs` is asked, of what the address says. */
export function queryOf (address: URLSearchParams): Record<string, string> {
  const known = ['status', 'order', 'cursor', 'code', 'from', ...linked, ...texts.map(({ name }) => name)]
  return Object.fromEntries(known.flatMap(name => {
    const value = address.get(name)
    return value === null || value === '' ? [] : [[name, value]]
  }))
}

/** The filters of the list, which are in the address. */
export function Filters ({ query, person }: { query: Readonly<Record<string, string>>, person: Person }): VNode {
  const { cursor: _, ...kept } = query
  const set = (name: string, value: string): void => {
    const wanted = value.trim()
    const isId = name === 'text' && jobId.test(wanted)
    location.hash = isId ? hrefOf(['jobs', wanted.toLowerCase()]) : hrefOf(['jobs'], { ...kept, [name]: wanted })
  }
  return (
    <form class='filters' role='search' aria-label='Filter jobs' onSubmit={event => { event.preventDefault() }}>
      <nav class='pills' aria-label='State'>
        {[undefined, ...jobStates].map(status => (
          <a key={status} href={hrefOf(['jobs'], { ...kept, status })} aria-current={kept['status'] === status ? 'true' : undefined}>{status ?? 'all'}</a>
        ))}
      </nav>
      {texts.filter(({ operatorOnly }) => operatorOnly !== true || person.tenant === undefined).map(({ name, label, hint = label }) => (
        <TextFilter key={name} name={name} label={label} hint={hint} value={kept[name] ?? ''} onValue={value => { set(name, value) }} />
      ))}
      <select aria-label='Error code' value={kept['code'] ?? ''} onChange={event => { set('code', event.currentTarget.value) }}>
        <option value=''>any error</option>
        {Object.keys(callErrors).map(code => <option key={code} value={code}>{code}</option>)}
      </select>
      <Since from={kept['from']} onFrom={from => { set('from', from) }} />
      {linked.flatMap(name => {
        const value = kept[name]
        if (value === undefined) return []
        const shown = name === 'to' ? exact(Date.parse(value)) : value.length <= 30 ? value : name === 'worker' ? value.slice(0, 8) : `…${value.slice(-12)}`
        return [<a key={name} class='chip' href={hrefOf(['jobs'], { ...kept, [name]: undefined })} title={value}><span class='soft'>{name}</span> {shown} <span aria-label='remove'>×</span></a>]
      })}
    </form>
  )
}

/** What is typed stays until it is entered, however often the page is drawn meanwhile. */
function TextFilter ({ name, label, hint, value, onValue }: Required<Pick<Filter, 'name' | 'label' | 'hint'>> & { value: string, onValue: (value: string) => void }): VNode {
  const [typed, setTyped] = useState(value)
  useEffect(() => { setTyped(value) }, [value])
  return (
    <input
      type='search' name={name} class={name === 'text' ? 'text-filter' : ''} aria-label={label} placeholder={hint} autocomplete='off'
      spellcheck={false} maxLength={200} value={typed} onInput={event => { setTyped(event.currentTarget.value) }}
      onChange={event => { onValue(event.currentTarget.value) }}
    />
  )
}

function Since ({ from, onFrom }: { from: string | undefined, onFrom: (from: string) => void }): VNode {
  const choose = (value: string): void => {
    if (value === 'set') return
    onFrom(value === '' ? '' : new Date(Date.now() - Number(value) * 60_000).toISOString())
  }
  return (
    <select aria-label='Submitted' value={from === undefined ? '' : 'set'} onChange={event => { choose(event.currentTarget.value) }}>
      <option value=''>at any time</option>
      {from !== undefined && <option value='set'>since {exact(Date.parse(from))}</option>}
      {spans.map(([minutes, label]) => <option key={minutes} value={minutes}>{label}</option>)}
    </select>
  )
}
