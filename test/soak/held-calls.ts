import type { ApprovalDetail, JobResponse } from '@toolyard/contract'
import { setTimeout as delay } from 'node:timers/promises'
import { submit, type Actor } from './caller.ts'
import { soakKeys } from './world.ts'

/** How long a call may take until it asks. */
const asksMs = 60_000

/** A call that needs an approval: two keys decide about it at once, or nobody does; some are cancelled meanwhile. */
export async function heldCall (actor: Actor): Promise<void> {
  const { ledger, random, caller } = actor
  const ask = ledger.ask(ledger.newMark(), 'held')
  await submit(actor, { type: 'agentcli.held', input: { mark: ask.mark } }, [ask.mark], id => { ledger.named(ask, id) })
  const [id] = ask.jobIds
  if (id === undefined || random.chance(0.1)) return
  const shown = await caller.until<{ approval: ApprovalDetail }>(caller.key(), `/v1/approvals/${id}`)
  if (shown.status !== 200) { ledger.doubt(`a held call was answered with ${shown.status}: ${shown.text.slice(0, 200)}`, ask.mark); return }
  const { key: asker, approval: { digest } } = shown.body.approval
  const others = soakKeys.filter(({ name }) => name !== asker)
  // Two words at once may be the same, or not.
  const words = others.map(({ key }) => ({ key, decision: random.pick(['approve', 'approve', 'deny'] as const) }))
  const cancelling = random.chance(0.2) ? caller.until(caller.key(), `/v1/jobs/${id}/cancel`, { method: 'POST' }) : undefined
  await Promise.all(words.map(async ({ key, decision }) => {
    ledger.history.add(`${decision}: ${id}`, ask.mark)
    const answer = await caller.until(key, `/v1/approvals/${id}`, { body: { decision, digest } })
    ledger.history.add(`the decision is answered ${answer.status}: ${answer.text.slice(0, 200)}`, ask.mark)
    if (answer.status === 200) ask.decisions.add(decision)
    else if (answer.status !== 409) ledger.doubt(`a decision was answered with ${answer.status}: ${answer.text.slice(0, 200)}`, ask.mark)
  }))
  if ((await cancelling)?.status !== 200) return
  ask.cancel = 'cancelled'
  ask.cancelledAt = ledger.history.now()
}

/** A call whose tool asks something: two keys answer it at once, each otherwise; some are cancelled meanwhile. */
export async function askedCall (actor: Actor): Promise<void> {
  const { ledger, random, caller } = actor
  const ask = ledger.ask(ledger.newMark(), 'asks', { maxRuns: 2 })
  await submit(actor, { type: 'agentcli.asks', input: { mark: ask.mark } }, [ask.mark], id => { ledger.named(ask, id) })
  const [id] = ask.jobIds
  if (id === undefined) return
  if (await asks(actor, id)) {
    await Promise.all(soakKeys.slice(0, 2).map(async ({ name, key }) => {
      ledger.history.add(`${name} answers ${id}`, ask.mark)
      const answer = await caller.until(key, `/v1/jobs/${id}/answer`, { body: { answer: { by: name }, number: 1 } })
      ledger.history.add(`the answer is answered ${answer.status}: ${answer.text.slice(0, 200)}`, ask.mark)
      if (answer.status === 200) ask.answers.add(name)
      else if (answer.status !== 409) ledger.doubt(`an answer was answered with ${answer.status}: ${answer.text.slice(0, 200)}`, ask.mark)
    }))
  }
  if (ask.answers.size > 0 && !random.chance(0.2)) return
  // Nobody else ends it.
  const cancelled = await caller.until(caller.key(), `/v1/jobs/${id}/cancel`, { method: 'POST' })
  ledger.history.add(`the cancel is answered ${cancelled.status}: ${cancelled.text.slice(0, 200)}`, ask.mark)
  if (cancelled.status !== 200) return
  ask.cancel = 'cancelled'
  ask.cancelledAt = ledger.history.now()
}

async function asks ({ caller }: Actor, id: string): Promise<boolean> {
  for (const deadline = performance.now() + asksMs; performance.now() < deadline; await delay(300)) {
    const { body, status } = await caller.until<JobResponse>(caller.key(), `/v1/jobs/${id}`)
    if (status !== 200 || !['queued', 'running', 'input_required'].includes(body.job.status)) return false
    if (body.job.status === 'input_required') return true
  }
  return false
}
