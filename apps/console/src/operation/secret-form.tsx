import { pathSegment } from '@toolyard/client'
import type { SecretView } from '@toolyard/contract'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { useAccess, type Person } from '../access/context.ts'
import { asError } from '../access/load.ts'
import { Problem } from '../parts/notice.tsx'

export interface SecretDraft {
  name: string
  scope: SecretView['scope']
  tenant: string
  value: string
}

interface SecretFormProps {
  draft: SecretDraft
  onDraft: (draft: SecretDraft) => void
  onStored: () => void
}

const words = { operator: 'operator: for all calls', tenant: 'tenant: for calls of one tenant', key: 'key: for calls of this key' } as const

export function emptySecret ({ tenant }: Person): SecretDraft {
  return { name: '', scope: tenant === undefined ? 'operator' : 'tenant', tenant: '', value: '' }
}

/** Stores a secret, in place of one of the same name and scope. The value leaves the page with the request. */
export function SecretForm ({ draft, onDraft, onStored }: SecretFormProps): VNode {
  const { api, person } = useAccess()
  const [error, setError] = useState<Error>()
  const [stored, setStored] = useState<string>()
  const isOperator = person.tenant === undefined
  const { name, scope, tenant, value } = draft
  const asksTenant = isOperator && scope === 'tenant'
  const set = (field: keyof SecretDraft) => (event: { currentTarget: { value: string } }): void => {
    setStored(undefined)
    onDraft({ ...draft, [field]: event.currentTarget.value })
  }
  async function store (event: Event): Promise<void> {
    event.preventDefault()
    try {
      await api.ask(`/v1/secrets/${pathSegment(name)}`, { method: 'PUT', body: { value, scope, ...asksTenant && { tenant } } })
      setError(undefined)
      setStored(name)
      onStored()
    } catch (caught) {
      setError(asError(caught))
    }
  }
  return (
    <>
      <form class='make' autocomplete='off' onSubmit={event => { void store(event) }}>
        <div class='field'><label for='secret-name'>Name</label><input id='secret-name' required maxLength={100} autocomplete='off' value={name} onInput={set('name')} /></div>
        <div class='field'>
          <label for='secret-scope'>Whose</label>
          <select id='secret-scope' value={scope} onChange={set('scope')}>
            {(['operator', 'tenant', 'key'] as const).filter(each => isOperator || each !== 'operator').map(each => <option key={each} value={each}>{words[each]}</option>)}
          </select>
        </div>
        {asksTenant && <div class='field'><label for='secret-tenant'>Tenant</label><input id='secret-tenant' required autocomplete='off' value={tenant} onInput={set('tenant')} /></div>}
        <div class='field'><label for='secret-value'>Value</label><textarea id='secret-value' required rows={1} spellcheck={false} autocomplete='off' value={value} onInput={set('value')} /></div>
        <button class='primary'>Store</button>
        <p class='soft small' role='status'>{stored === undefined ? 'A value is sealed, and never shown again.' : `${stored} is stored.`}</p>
      </form>
      <Problem error={error} />
    </>
  )
}
