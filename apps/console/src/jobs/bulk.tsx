import { jobStates } from '@toolyard/contract/terms'
import type { BulkView, JobCounts } from '@toolyard/contract'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { useAccess } from '../access/context.ts'
import { asError, useLoad } from '../access/load.ts'
import { Confirm } from '../parts/dialog.tsx'
import { Problem } from '../parts/notice.tsx'
import { useNow } from '../parts/time.tsx'

type Action = BulkView['action']

/** How often is counted what fits, and how far changes are, in milliseconds. */
const countEveryMs = 15_000
const everyMs = 1_000
const shownMs = 20_000

export function Bulk ({ filter }: { filter: Readonly<Record<string, string>> }): VNode {
  const { api, person } = useAccess()
  const search = String(new URLSearchParams(filter))
  const counts = useLoad(search, async signal => await api.ask<JobCounts>(`/v1/jobs/counts?${search}`, { signal }), countEveryMs)
  const [asked, setAsked] = useState<Action>()
  const [error, setError] = useState<Error>()
  const [begun, setBegun] = useState(0)
  const isFiltered = Object.keys(filter).length > 0
  const { queued = 0, running = 0, failed = 0 } = counts.data?.states ?? {}
  async function begin (action: Action): Promise<void> {
    await api.ask('/v1/bulk', { method: 'POST', body: { action, filter } })
      .then(() => { setError(undefined); setBegun(count => count + 1) }, (caught: unknown) => { setError(asError(caught)) })
  }
  return (
    <>
      <div class='bulk-bar'>
        <p class='soft small' aria-live='polite'>{counts.data === undefined ? ' ' : sentence(counts.data)}</p>
        {isFiltered && person.can_write && (
          <div class='actions'>
            {queued + running > 0 && <button type='button' class='small-button' onClick={() => { setAsked('cancel') }}>Cancel all</button>}
            {failed > 0 && <button type='button' class='small-button' onClick={() => { setAsked('run_again') }}>Run failed ones again</button>}
          </div>
        )}
      </div>
      <Problem error={error} />
      <Changes key={begun} recount={counts.reload} />
      {asked === 'cancel' && (
        <Confirm title='Cancel all these jobs?' action='Cancel them' onConfirm={() => { void begin('cancel') }} onClose={() => { setAsked(undefined) }}>
          <p>{number(queued)} wait and {number(running)} run{counts.data?.complete === true ? '' : ', of those counted'}. Each stays cancelled. Jobs that come later are not touched.</p>
        </Confirm>
      )}
      {asked === 'run_again' && (
        <Confirm title='Run all failed ones again?' action='Run them again' onConfirm={() => { void begin('run_again') }} onClose={() => { setAsked(undefined) }}>
          <p>{number(failed)} have failed{counts.data?.complete === true ? '' : ', of those counted'}. Each is run again under its id, whatever its first run has done already.</p>
        </Confirm>
      )}
    </>
  )
}

function Changes ({ recount }: { recount: () => void }): VNode | null {
  const { api, person } = useAccess()
  const now = useNow()
  const [known, setKnown] = useState<ReadonlySet<string>>(new Set())
  const { data, reload } = useLoad('bulk', async signal => {
    const list = await api.ask<{ bulks: BulkView[] }>('/v1/bulk', { signal })
    const going = new Set(list.bulks.filter(({ state }) => state === 'running').map(({ id }) => id))
    setKnown(before => {
      if ([...before].some(id => !going.has(id))) recount()
      return going
    })
    return list
  }, known.size > 0 ? everyMs : 5 * everyMs)
  const shown = data?.bulks.filter(({ finished_at: at }) => at === null || Date.parse(at) > now - shownMs) ?? []
  if (shown.length === 0) return null
  async function stop (id: string): Promise<void> {
    await api.ask(`/v1/bulk/${id}/stop`, { method: 'POST' }).catch(() => {})
    reload()
  }
  return (
    <ul class='changes' aria-label='Changes of many jobs' aria-live='polite'>
      {shown.map(({ id, action, state, filter, total, seen, changed }) => (
        <li key={id} class='card'>
          <p><strong>{action === 'cancel' ? 'Cancel' : 'Run again'}</strong> <span class='soft'>{Object.entries(filter).map(([name, value]) => `${name} ${value}`).join(', ')}</span></p>
          {state === 'running' && (total === null ? <progress aria-label='How far it is' /> : <progress aria-label='How far it is' max={Math.max(1, total)} value={seen} />)}
          <p class='small'>{state === 'running' ? '' : `${state}: `}{number(changed)} changed, {number(seen)} of {total === null ? 'more than 10,000' : number(total)} seen</p>
          {state === 'running' && person.can_write && <button type='button' class='small-button' onClick={() => { void stop(id) }}>Stop</button>}
        </li>
      ))}
    </ul>
  )
}

function sentence ({ total, states, complete }: JobCounts): string {
  // The list says it.
  if (total === 0) return ' '
  const parts = jobStates.filter(state => states[state] > 0).map(state => `${number(states[state])} ${state}`)
  return complete ? `${number(total)} ${total === 1 ? 'job' : 'jobs'}: ${parts.join(', ')}` : `More than ${number(total)} jobs; of the newest ${parts.join(', ')}`
}

function number (value: number): string {
  return value.toLocaleString('en')
}
