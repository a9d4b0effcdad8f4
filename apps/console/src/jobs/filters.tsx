import { callErrors, jobStates } from '@toolyard/contract/terms'
import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Statistics } from '@toolyard/contract'
import { useAccess, type Person } from '../access/context.ts'
import { useLoad } from '../access/load.ts'
import { hrefOf } from '../parts/route.ts'
import { exact } from '../parts/time.tsx'

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
/** How long after a letter the filter applies, and how often names are read again, in milliseconds. */
const quietMs = 400
const namesEveryMs = 60_000
const jobId = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i
const spans: ReadonlyArray<readonly [minutes: number, label: string]> = [[15, 'the last 15 min'], [60, 'the last hour'], [1_440, 'the last day']]

/** The query of `GET /v1/jobs`, by the address. */
export function queryOf (address: URLSearchParams): Record<string, string> {
  const known = ['status', 'order', 'cursor', 'code', 'from', ...linked, ...texts.map(({ name }) => name)]
  return Object.fromEntries(known.flatMap(name => {
    const value = address.get(name)
    return value === null || value === '' ? [] : [[name, value]]
  }))
}

export function Filters ({ query, person }: { query: Readonly<Record<string, string>>, person: Person }): VNode {
  const { cursor: _, ...kept } = query
  const set = (name: string, value: string): void => {
    const wanted = value.trim()
    const isId = name === 'text' && jobId.test(wanted)
    const to = isId ? hrefOf(['jobs', wanted.toLowerCase()]) : hrefOf(['jobs'], { ...kept, [name]: wanted })
    // One who types goes back by one step, not letter by letter.
    if (kept[name] === undefined || isId) location.hash = to
    else location.replace(to)
  }
  const names = useNames()
  return (
    <form class='filters' role='search' aria-label='Filter jobs' onSubmit={event => { event.preventDefault() }}>
      <nav class='pills' aria-label='State'>
        {[undefined, ...jobStates].map(status => (
          <a key={status} href={hrefOf(['jobs'], { ...kept, status })} aria-current={kept['status'] === status ? 'true' : undefined}>{status ?? 'all'}</a>
        ))}
      </nav>
      {texts.filter(({ operatorOnly }) => operatorOnly !== true || person.tenant === undefined).map(({ name, label, hint = label }) => (
        <TextFilter key={name} name={name} label={label} hint={hint} value={kept[name] ?? ''} names={names[name]} onValue={value => { set(name, value) }} />
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

/** The names that calls of the last day had. */
function useNames (): Partial<Record<string, readonly string[]>> {
  const { api } = useAccess()
  const { data } = useLoad('names', async signal => await api.ask<Statistics>('/v1/stats?minutes=1440', { signal }), namesEveryMs)
  if (data === undefined) return {}
  const { tools, keys, queues } = data
  const namesOf = (entries: Statistics['tools']): string[] => entries.flatMap(({ name }) => name ?? [])
  return { tool: namesOf(tools), key: namesOf(keys), queue: namesOf(queues) }
}

interface TextFilterProps extends Required<Pick<Filter, 'name' | 'label' | 'hint'>> {
  value: string
  names: readonly string[] | undefined
  onValue: (value: string) => void
}

/** The text applies after a moment, and stays as it was typed, however often the page is drawn meanwhile. */
function TextFilter ({ name, label, hint, value, names = [], onValue }: TextFilterProps): VNode {
  const [typed, setTyped] = useState(value)
  const entered = useRef(value)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => {
    if (value !== entered.current) setTyped(value)
    entered.current = value
  }, [value])
  useEffect(() => () => { clearTimeout(timer.current) }, [])
  const enter = (text: string): void => {
    clearTimeout(timer.current)
    if (text.trim() === entered.current) return
    entered.current = text.trim()
    onValue(text)
  }
  const type = (text: string): void => {
    setTyped(text)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => { enter(text) }, quietMs)
  }
  return (
    <>
      <input
        type='search' name={name} class={name === 'text' ? 'text-filter' : ''} aria-label={label} placeholder={hint} autocomplete='off'
        spellcheck={false} maxLength={200} value={typed} list={names.length === 0 ? undefined : `names-${name}`}
        onInput={event => { type(event.currentTarget.value) }} onChange={event => { enter(event.currentTarget.value) }}
      />
      {names.length > 0 && <datalist id={`names-${name}`}>{names.map(each => <option key={each} value={each} />)}</datalist>}
    </>
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
