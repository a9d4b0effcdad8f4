import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { useAccess } from '../access/context.ts'
import { asError } from '../access/load.ts'
import { Problem } from '../parts/notice.tsx'

/** A key that was just made, with its value. */
export interface MadeKey {
  name: string
  key: string
}

const empty = { name: '', role: 'admin', tenant: '', days: '' }
const secondsOfDay = 86_400

/** Makes an API key. */
export function NewKey ({ onMade }: { onMade: (key: MadeKey) => void }): VNode {
  const { api } = useAccess()
  const [draft, setDraft] = useState(empty)
  const [error, setError] = useState<Error>()
  const set = (name: keyof typeof empty) => (event: { currentTarget: { value: string } }): void => {
    setDraft({ ...draft, [name]: event.currentTarget.value })
  }
  async function make (event: Event): Promise<void> {
    event.preventDefault()
    const { name, role, tenant, days } = draft
    const body = { name, role, ...(tenant === '' ? {} : { tenant }), ...(days === '' ? {} : { expires_in_sec: Math.round(Number(days) * secondsOfDay) }) }
    try {
      onMade((await api.ask<{ key: MadeKey }>('/v1/keys', { method: 'POST', body })).key)
      setDraft(empty)
      setError(undefined)
    } catch (caught) {
      setError(asError(caught))
    }
  }
  return (
    <>
      <form class='make' onSubmit={event => { void make(event) }}>
        <div class='field'><label for='new-name'>Name</label><input id='new-name' required maxLength={100} autocomplete='off' value={draft.name} onInput={set('name')} /></div>
        <div class='field'>
          <label for='new-role'>Role</label>
          <select id='new-role' value={draft.role} onChange={set('role')}><option value='admin'>admin</option><option value='read'>read</option></select>
        </div>
        <div class='field'><label for='new-tenant'>Tenant</label><input id='new-tenant' placeholder='operator' autocomplete='off' value={draft.tenant} onInput={set('tenant')} /></div>
        <div class='field'><label for='new-days'>Days until it ends</label><input id='new-days' type='number' min='1' placeholder='never' value={draft.days} onInput={set('days')} /></div>
        <button class='primary'>Make a key</button>
      </form>
      <Problem error={error} />
    </>
  )
}
