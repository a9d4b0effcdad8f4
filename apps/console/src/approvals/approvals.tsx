import { pathSegment } from '@toolyard/client'
import type { ApprovalDetail, ApprovalItem, ApprovalList } from '@toolyard/contract'
import { prettyJson, visible } from '@toolyard/contract/terms'
import type { ComponentChildren, VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { useAccess } from '../access/context.ts'
import { asError, useLoad } from '../access/load.ts'
import { useKeys } from '../parts/keys.ts'
import { Name } from '../parts/long-text.tsx'
import { Empty, Problem } from '../parts/notice.tsx'
import { hrefOf, type Route } from '../parts/route.ts'
import { TenantFilter } from '../parts/tenant-filter.tsx'
import { exact, Time } from '../parts/time.tsx'
import { changesOf } from './changes.ts'

const everyMs = 5_000

/** The calls that wait for a person: which, what they would do, and the decision. */
export function ApprovalsPage ({ id: named, route }: { id: string | undefined, route: Route }): VNode {
  const { api, person } = useAccess()
  const [cursor, tenant] = ['cursor', 'tenant'].map(name => route.query.get(name) ?? undefined)
  const search = String(new URLSearchParams({ ...cursor !== undefined && { cursor }, ...tenant !== undefined && { tenant } }))
  const { data, error, reload } = useLoad(search, async signal => await api.ask<ApprovalList>(`/v1/approvals?${search}`, { signal }), everyMs)
  const [chosen, setChosen] = useState(named)
  const held = data?.approvals ?? []
  // The call that is shown stays until another one is chosen: a list that moves puts no other call below a click.
  useEffect(() => {
    if (data !== undefined) setChosen(now => data.approvals.length === 0 ? named : now ?? data.approvals[0]?.job_id)
  }, [data, named])
  const move = (by: number): void => {
    const at = held.findIndex(({ job_id: id }) => id === chosen)
    setChosen(held[Math.min(held.length - 1, Math.max(0, at + by))]?.job_id)
  }
  useKeys({ j: () => { move(1) }, k: () => { move(-1) } })
  return (
    <main>
      <header class='page-head'><h1>Approvals</h1><p class='soft small hint'><kbd>j</kbd> <kbd>k</kbd> move</p></header>
      {person.tenant === undefined && <TenantFilter page='approvals' label='Filter held calls' tenant={tenant} />}
      <Problem error={error} />
      {data !== undefined && held.length === 0 && named === undefined && (
        <Empty title={search === '' ? 'No call waits for an approval.' : 'No call here waits for an approval.'}>Calls of tools with a rule or <code>"approval": "required"</code> wait here.</Empty>
      )}
      {(held.length > 0 || chosen !== undefined) && (
        <div class='columns'>
          <div class='table-frame'>
            <table class='dense listing'>
              <thead><tr><th>Call</th><th class='wide'>Arguments</th><th>Asked by</th><th>Waits since</th></tr></thead>
              <tbody>
                {held.map(item => (
                  <Row key={item.job_id} item={item} isCurrent={item.job_id === chosen} onChoose={() => { setChosen(item.job_id) }} />
                ))}
              </tbody>
            </table>
          </div>
          {chosen !== undefined && <Detail key={chosen} id={chosen} onDecided={reload} />}
        </div>
      )}
      <nav class='pages' aria-label='Parts of the list'>
        {cursor !== undefined && <a class='button' href={hrefOf(['approvals'], { tenant })}>Newest</a>}
        {data?.next_cursor != null && <a class='button' href={hrefOf(['approvals'], { tenant, cursor: data.next_cursor })}>Older</a>}
      </nav>
    </main>
  )
}

function Row ({ item, isCurrent, onChoose }: { item: ApprovalItem, isCurrent: boolean, onChoose: () => void }): VNode {
  const { tool, key, tenant, submitted_at: at } = item
  const args = visible(item.arguments_preview)
  return (
    <tr aria-current={isCurrent ? 'true' : undefined} onClick={onChoose}>
      <td class='wraps'><button type='button' class='quiet row-link' onClick={onChoose}><Name text={tool} /></button></td>
      <td class='wide' title={args}><code>{args}</code></td>
      <td>{key ?? '–'}{tenant === null ? '' : <span class='tag'>{tenant}</span>}</td>
      <td><Time at={at} /></td>
    </tr>
  )
}

function Detail ({ id, onDecided }: { id: string, onDecided: () => void }): VNode {
  const { api, person } = useAccess()
  const { data, error, reload } = useLoad(id, async signal => await api.ask<{ approval: ApprovalDetail }>(`/v1/approvals/${pathSegment(id)}`, { signal }))
  const [reason, setReason] = useState('')
  const [problem, setProblem] = useState<Error>()
  const [isSent, setSent] = useState(false)
  const call = data?.approval
  async function decide (decision: 'approve' | 'deny'): Promise<void> {
    if (call === undefined) return
    setSent(true)
    const body = { decision, digest: call.approval.digest, ...(reason.trim() === '' ? {} : { reason }) }
    await api.ask(`/v1/approvals/${pathSegment(id)}`, { method: 'POST', body })
      .then(() => { setProblem(undefined); onDecided() }, (caught: unknown) => { setProblem(asError(caught)) })
    reload()
    setSent(false)
  }
  const mayDecide = person.can_approve && call?.approval.state === 'held'
  return (
    <section class='card column' aria-label='The call' aria-busy={call === undefined}>
      <Problem error={problem ?? error} />
      {call !== undefined && (
        <>
          <h2>{call.tool}</h2>
          <dl class='facts'>
            <Fact name='Why'>{call.approval.reason ?? call.approval.rule ?? 'This tool always needs an approval'}</Fact>
            {call.approval.rule !== null && call.approval.reason !== null && <Fact name='Rule'><code>{call.approval.rule}</code></Fact>}
            {call.approval.changed !== null && <Fact name='Held again'>{call.approval.changed}</Fact>}
            {call.approval.state !== 'held' && <Fact name='Decision'>{call.approval.state}</Fact>}
            <Fact name='Asked by'>{call.key ?? '–'}{call.tenant === null ? '' : ` of ${call.tenant}`}</Fact>
            {call.session !== null && <Fact name='Session'><a href={hrefOf(['sessions', call.session])}>{call.session}</a></Fact>}
            {call.conversation !== null && <Fact name='Conversation'>{visible(call.conversation)}</Fact>}
            <Fact name='Until'>{exact(Date.parse(call.approval.expires_at))}</Fact>
            <Fact name='Job'><a href={hrefOf(['jobs', call.job_id])}>{call.job_id}</a></Fact>
            {call.approval.approvers > 1 && <Fact name='Approved by'>{approversOf(call.approval)}</Fact>}
          </dl>
          <Arguments call={call} />
          {mayDecide && (
            <form class='actions' onSubmit={event => { event.preventDefault() }}>
              <label for='reason'>Reason</label>
              <input id='reason' maxLength={1_000} value={reason} placeholder='For the model, if denied' onInput={event => { setReason(event.currentTarget.value) }} />
              <button type='button' class='danger' disabled={isSent} onClick={() => { void decide('deny') }}>Deny</button>
              <button type='button' class='primary' disabled={isSent} onClick={() => { void decide('approve') }}>Approve</button>
            </form>
          )}
        </>
      )}
    </section>
  )
}

function Fact ({ name, children }: { name: string, children: ComponentChildren }): VNode {
  return <div><dt>{name}</dt><dd>{children}</dd></div>
}

function approversOf ({ approvers, decisions }: ApprovalDetail['approval']): string {
  const counting = decisions.filter(({ decision, revoked }) => decision === 'approve' && revoked !== true)
  return `${counting.length} of ${approvers} keys${counting.map(({ key }) => ` ${key}`).join()}`
}

/** The arguments; beside them those of the call of the tool that was approved before. */
function Arguments ({ call }: { call: ApprovalDetail }): VNode {
  if (call.previous === null) return <pre class='code'>{visible(prettyJson(call.arguments))}</pre>
  return (
    <table class='dense whole' aria-label='Arguments, now and when a call of the tool was approved before'>
      <thead><tr><th>Argument</th><th>Now</th><th>Before</th></tr></thead>
      <tbody>
        {changesOf(call.arguments, call.previous.arguments).map(({ name, now, before, isChanged }) => (
          <tr key={name}><td>{isChanged ? <strong>{name}</strong> : name}</td><td><code>{now}</code></td><td class='soft'><code>{before}</code></td></tr>
        ))}
      </tbody>
    </table>
  )
}
