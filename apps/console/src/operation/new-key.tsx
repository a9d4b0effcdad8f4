import type { NewKeyRequest } from '@toolyard/contract'
import { permissions, type Permission } from '@toolyard/contract/terms'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { useAccess } from '../access/context.ts'
import { asError } from '../access/load.ts'
import { Problem } from '../parts/notice.tsx'
import { hrefOf } from '../parts/route.ts'

export interface MadeKey {
  name: string
  key: string
}

const empty = { name: '', role: 'read', tenant: '', queues: '', namespaces: '', hosts: '', days: '' }
const secondsOfDay = 86_400

export function NewKey ({ onMade }: { onMade: (key: MadeKey) => void }): VNode {
  const { api } = useAccess()
  const [draft, setDraft] = useState(empty)
  const [allowed, setAllowed] = useState<readonly Permission[]>(permissions)
  const [error, setError] = useState<Error>()
  const set = (name: keyof typeof empty) => (event: { currentTarget: { value: string } }): void => {
    setDraft({ ...draft, [name]: event.currentTarget.value })
  }
  async function make (event: Event): Promise<void> {
    event.preventDefault()
    try {
      onMade((await api.ask<{ key: MadeKey }>('/v1/keys', { method: 'POST', body: requestOf(draft, allowed) })).key)
      setDraft(empty)
      setAllowed(permissions)
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
          <select id='new-role' value={draft.role} onChange={set('role')}><option value='read'>read: looks at everything, changes nothing</option><option value='approver'>approver: also decides about held calls</option><option value='admin'>admin: calls tools, changes things</option></select>
        </div>
        <div class='field'><label for='new-tenant'>Tenant</label><input id='new-tenant' placeholder='operator' autocomplete='off' value={draft.tenant} onInput={set('tenant')} /></div>
        <div class='field'><label for='new-queues'>Queues</label><input id='new-queues' placeholder='all, or a, b' aria-describedby='bounds' autocomplete='off' value={draft.queues} onInput={set('queues')} /></div>
        <div class='field'><label for='new-namespaces'>Namespaces</label><input id='new-namespaces' placeholder='all, or a, b' aria-describedby='bounds' autocomplete='off' value={draft.namespaces} onInput={set('namespaces')} /></div>
        <div class='field'><label for='new-hosts'>Hosts</label><input id='new-hosts' placeholder='all, or a, b' aria-describedby='bounds' autocomplete='off' value={draft.hosts} onInput={set('hosts')} /></div>
        <div class='field'><label for='new-days'>Valid for, in days</label><input id='new-days' type='number' min='1' placeholder='never' value={draft.days} onInput={set('days')} /></div>
        <fieldset class='may'>
          <legend>May call tools that need</legend>
          {permissions.map(each => (
            <label key={each}>
              <input
                type='checkbox'
                checked={allowed.includes(each)}
                onChange={({ currentTarget: { checked } }) => {
                  setAllowed(permissions.filter(other => other === each ? checked : allowed.includes(other)))
                }}
              /> {each}
            </label>
          ))}
        </fieldset>
        <button class='primary'>Make a key</button>
      </form>
      <p id='bounds' class='about small'>
        What is left empty has no bound. <strong>Queues</strong>: its jobs may be in these alone.
        {' '}<strong>Namespaces</strong>: it sees and calls the tools of these alone, such as those of one MCP server;
        the page <a href={hrefOf(['tools'])}>Tools</a> has them.
        {' '}<strong>Hosts</strong>: its calls may reach these alone, such as <code>api.github.com</code> or <code>*.example.com</code>.
      </p>
      <Problem error={error} />
    </>
  )
}

/** Bounds that aren't set are left out. */
function requestOf ({ name, role, tenant, queues, namespaces, hosts, days }: typeof empty, allowed: readonly Permission[]): Omit<NewKeyRequest, 'role'> & { role: string } {
  const names = queues.split(/[\s,]+/).filter(queue => queue !== '')
  const reached = hosts.split(/[\s,]+/).filter(host => host !== '')
  const spaces = namespaces.split(',').map(name => name.trim()).filter(name => name !== '')
  return {
    name,
    role,
    ...(tenant === '' ? {} : { tenant }),
    ...(names.length === 0 ? {} : { queue_allowlist: names }),
    ...(spaces.length === 0 ? {} : { namespaces: spaces }),
    ...(reached.length === 0 ? {} : { hosts: reached }),
    ...(allowed.length === permissions.length ? {} : { permissions: [...allowed] }),
    ...(days === '' ? {} : { expires_in_sec: Math.round(Number(days) * secondsOfDay) })
  }
}
