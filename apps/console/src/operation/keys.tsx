import { pathSegment } from '@toolyard/client'
import type { KeyView } from '@toolyard/contract'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { useAccess } from '../access/context.ts'
import { asError, useLoad } from '../access/load.ts'
import { Copy } from '../parts/copy.tsx'
import { Confirm, Dialog } from '../parts/dialog.tsx'
import { Name } from '../parts/long-text.tsx'
import { Problem } from '../parts/notice.tsx'
import { hrefOf } from '../parts/route.ts'
import { Time } from '../parts/time.tsx'
import { NewKey, type MadeKey } from './new-key.tsx'

const everyMs = 10_000

/** The API keys and whose they are; new ones are made here, and shown once. */
export function KeysPage (): VNode {
  const { api } = useAccess()
  const { data, error, reload } = useLoad('keys', async signal => await api.ask<{ keys: KeyView[] }>('/v1/keys', { signal }), everyMs)
  const [made, setMade] = useState<MadeKey>()
  const [revoked, setRevoked] = useState<string>()
  const [problem, setProblem] = useState<Error>()
  async function revoke (name: string): Promise<void> {
    await api.ask(`/v1/keys/${pathSegment(name)}`, { method: 'DELETE' })
      .then(() => { setProblem(undefined); reload() }, (caught: unknown) => { setProblem(asError(caught)) })
  }
  return (
    <main>
      <header class='page-head'><h1>Keys and tenants</h1></header>
      <NewKey onMade={key => { setMade(key); reload() }} />
      <Problem error={problem ?? error} />
      <KeyTable keys={data?.keys} onRevoke={setRevoked} />
      {made !== undefined && (
        <Dialog title={`The key “${made.name}”`} onClose={() => { setMade(undefined) }}>
          <p>This is the only time that it is shown. Store it now.</p>
          <code class='once'>{made.key}</code>
          <div class='actions end'><Copy text={made.key} label='Copy the key' /><button type='button' onClick={() => { setMade(undefined) }}>I have stored it</button></div>
        </Dialog>
      )}
      {revoked !== undefined && (
        <Confirm title={`Revoke “${revoked}”?`} action='Revoke the key' onConfirm={() => { void revoke(revoked) }} onClose={() => { setRevoked(undefined) }}>
          <p>After a second it opens nothing, nor do its logins and tickets, and its open streams end.</p>
          <p>Calls that it has made go on. Its secrets are removed. This can't be undone.</p>
        </Confirm>
      )}
    </main>
  )
}

function KeyTable ({ keys, onRevoke }: { keys: readonly KeyView[] | undefined, onRevoke: (name: string) => void }): VNode {
  return (
    <div class='table-frame' aria-busy={keys === undefined}>
      <table class='dense listing'>
        <thead><tr><th class='c-bound'>Key</th><th>Role</th><th>Tenant</th><th class='wide'>Last used</th><th class='wide'>Expires</th><th><span class='soft'>Action</span></th></tr></thead>
        <tbody>
          {keys?.map(({ name, role, tenant, last_used_at: used, expires_at: expires, source, ...bounds }) => (
            <tr key={`${source} ${name}`}>
              <td class='wraps'><Name text={name} /> <span class='soft small'><Name text={boundsOf(bounds)} /></span></td>
              <td>{role}</td>
              <td>{tenant === null ? <span class='soft'>operator</span> : <a href={hrefOf(['jobs'], { tenant })}>{tenant}</a>}</td>
              <td class='wide'><Time at={used} /></td>
              <td class='wide'>{expires === null ? <span class='soft'>never</span> : <Time at={expires} />}</td>
              <td>{source === 'redis'
                ? <button type='button' class='quiet' aria-label={`Revoke ${name}`} onClick={() => { onRevoke(name) }}>Revoke</button>
                : <span class='soft small' title='It is in API_KEY or API_KEYS_JSON: take it away there'>in settings</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** What bounds a key, such as: only queues a, b; hosts none. */
function boundsOf ({ queue_allowlist: queues, permissions, namespaces, hosts }: Pick<KeyView, 'queue_allowlist' | 'permissions' | 'namespaces' | 'hosts'>): string {
  const bounds = Object.entries({ queues, permissions, namespaces, hosts })
    .flatMap(([name, values]) => values === null ? [] : [`${name} ${values.join(', ') || 'none'}`])
  return bounds.length === 0 ? '' : `only ${bounds.join('; ')}`
}
