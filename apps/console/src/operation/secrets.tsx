import { pathSegment } from '@toolyard/client'
import type { SecretView } from '@toolyard/contract'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { useAccess } from '../access/context.ts'
import { asError, useLoad } from '../access/load.ts'
import { Confirm } from '../parts/dialog.tsx'
import { Name } from '../parts/long-text.tsx'
import { Empty, Problem } from '../parts/notice.tsx'
import { Time } from '../parts/time.tsx'
import { emptySecret, SecretForm } from './secret-form.tsx'

const everyMs = 10_000

/** The secrets that tools use: stored, replaced and removed here, and never shown. */
export function SecretsPage (): VNode {
  const { api, person } = useAccess()
  const { data, error, reload } = useLoad('secrets', async signal => await api.ask<{ secrets: SecretView[] }>('/v1/secrets', { signal }), everyMs)
  const [draft, setDraft] = useState(emptySecret(person))
  const [removed, setRemoved] = useState<SecretView>()
  const [problem, setProblem] = useState<Error>()
  const canWrite = person.can_write
  function replace ({ name, scope, tenant }: SecretView): void {
    setDraft({ name, scope, tenant: tenant ?? '', value: '' })
    document.getElementById('secret-value')?.focus()
  }
  async function remove ({ name, scope, tenant }: SecretView): Promise<void> {
    const place = new URLSearchParams({ scope, ...tenant !== null && { tenant } })
    await api.ask(`/v1/secrets/${pathSegment(name)}?${String(place)}`, { method: 'DELETE' })
      .then(() => { setProblem(undefined); reload() }, (caught: unknown) => { setProblem(asError(caught)) })
  }
  return (
    <main>
      <header class='page-head'><h1>Secrets</h1></header>
      {canWrite && <SecretForm draft={draft} onDraft={setDraft} onStored={() => { setDraft(emptySecret(person)); reload() }} />}
      <Problem error={problem ?? error} />
      {data?.secrets.length === 0
        ? <Empty title='No secrets.'>A tool names one in its manifest, and a call uses that of its key, else of its tenant, else the operator's.</Empty>
        : error === undefined && <SecretTable secrets={data?.secrets} canWrite={canWrite} onRemove={setRemoved} onReplace={replace} />}
      {removed !== undefined && (
        <Confirm title={`Remove “${removed.name}” of ${whose(removed)}?`} action='Remove the secret' onConfirm={() => { void remove(removed) }} onClose={() => { setRemoved(undefined) }}>
          <p>The next call that needs it uses one of a wider scope, or fails with SECRET_MISSING. A call that has it goes on.</p>
        </Confirm>
      )}
    </main>
  )
}

interface SecretTableProps {
  secrets: readonly SecretView[] | undefined
  canWrite: boolean
  onReplace: (secret: SecretView) => void
  onRemove: (secret: SecretView) => void
}

function SecretTable ({ secrets, canWrite, onReplace, onRemove }: SecretTableProps): VNode {
  return (
    <div class='table-frame' aria-busy={secrets === undefined}>
      <table class='dense listing'>
        <thead><tr><th>Secret</th><th>Whose</th><th class='wide'>Stored</th><th>Last used</th><th><span class='soft'>Action</span></th></tr></thead>
        <tbody>
          {secrets?.map(secret => {
            const { name, scope, tenant, key, stored_at: stored, last_used_at: used } = secret
            return (
              <tr key={`${scope} ${tenant ?? key} ${name}`}>
                <td class='wraps'><Name text={name} /></td>
                <td title={whose(secret)}>{scope === 'operator' ? <span class='soft'>operator</span> : tenant ?? `key ${key ?? ''}`}</td>
                <td class='wide'><Time at={stored} /></td>
                <td>{used === null ? <span class='soft'>never</span> : <Time at={used} />}</td>
                <td>{canWrite && (
                  <span class='actions'>
                    <button type='button' class='quiet' aria-label={`Replace ${name} of ${whose(secret)}`} onClick={() => { onReplace(secret) }}>Replace</button>
                    <button type='button' class='quiet' aria-label={`Remove ${name} of ${whose(secret)}`} onClick={() => { onRemove(secret) }}>Remove</button>
                  </span>
                )}
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

function whose ({ scope, tenant, key }: SecretView): string {
  return scope === 'operator' ? 'the operator' : scope === 'tenant' ? `the tenant ${tenant ?? ''}` : `the key ${key ?? ''}`
}
