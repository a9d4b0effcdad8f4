import type { FileList, InvokeBatchResponse, JobList, JobResponse, SessionView } from '@toolyard/contract'
import { setTimeout as delay } from 'node:timers/promises'
import { openReader, type EventReader } from '../streams/event-reader.ts'
import type { Answer, RequestOptions } from '../support/client.ts'
import type { Cleanup } from '../support/cleanup.ts'
import { submit, type Actor } from './caller.ts'
import type { Ask, Ledger } from './calls.ts'
import { askedCall, heldCall } from './held-calls.ts'
import type { Random } from './random.ts'
import { toolNames, type SoakTool } from './tools.ts'

type Operation = (actor: Actor) => Promise<void>

const queues = ['default', 'default', 'a:b', 'c.d', 'e-f']

/** Everything that a caller can do, with how often it does so. */
const operations: ReadonlyArray<readonly [weight: number, operation: Operation]> = [
  [10, batch], [8, job], [4, workflow], [4, cancel], [2, follow], [2, page], [2, look], [2, session], [4, heldCall], [3, askedCall]
]

/** Does one operation after the other until `isOver`. */
export async function act (actor: Actor, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    actor.count += 1
    const operation = actor.random.weighted(operations)
    actor.ledger.count(operation.name)
    try {
      await operation(actor)
    } catch (error) {
      actor.ledger.doubt(`${operation.name}: ${error instanceof Error ? error.message : String(error)}`)
    }
    await delay(actor.random.int(0, 300))
  }
}

/** A batch of calls, in any mode, with or without an Idempotency-Key. */
async function batch (actor: Actor): Promise<void> {
  const { ledger, random, caller } = actor
  const asks = Array.from({ length: random.int(1, 6) }, () => ledger.ask(ledger.newMark(), random.pick(toolNames)))
  const withKey = random.chance(0.5)
  const mode = random.pick(['sync', 'async'])
  const options: RequestOptions = {
    body: {
      calls: asks.map(({ mark, tool }) => ({ call_id: mark, name: tool, arguments: argumentsOf(tool, mark, random) })),
      mode,
      wait_ms: random.int(100, 8_000),
      queue: random.pick(queues)
    },
    headers: withKey ? { 'idempotency-key': `${actor.name}-${actor.count}` } : {}
  }
  const key = caller.key()
  ledger.history.add(`batch ${JSON.stringify(options.body)}${withKey ? ' with a key' : ''}`, ...asks.map(({ mark }) => mark))
  // Without a key, nobody can know whether a broken request was heard.
  const first = withKey ? await caller.until<InvokeBatchResponse>(key, '/v1/agent-tools/invoke-batch', options) : await caller.once<InvokeBatchResponse>(key, '/v1/agent-tools/invoke-batch', options)
  const answers = [first, ...withKey && random.chance(0.3) ? [await caller.until<InvokeBatchResponse>(key, '/v1/agent-tools/invoke-batch', options)] : []]
  for (const answer of answers) if (answer !== undefined) noteBatch(ledger, asks, answer, mode)
}

function noteBatch (ledger: Ledger, asks: readonly Ask[], answer: Answer<InvokeBatchResponse>, mode: string): void {
  const marks = asks.map(({ mark }) => mark)
  ledger.history.add(`answered ${answer.status}: ${answer.text.slice(0, 600)}`, ...marks)
  // The jobs of an unconfirmed key may have run and been removed since: nobody can tell.
  if (answer.status === 409) { ledger.count('answers 409'); return }
  if (answer.status !== 200) { ledger.doubt(`a batch was answered with ${answer.status}: ${answer.text.slice(0, 300)}`, ...marks); return }
  const ids = answer.body.results.map(({ call_id: id }) => id)
  if (ids.join() !== marks.join()) ledger.doubt(`calls ${marks.join()} have the answers ${ids.join()}`, ...marks)
  for (const [index, result] of answer.body.results.entries()) {
    const ask = asks[index]
    if (ask === undefined) continue
    if (result.job_id !== undefined) ledger.named(ask, result.job_id)
    // An answer in mode async says that the job was accepted.
    if (!result.ok || (mode === 'sync' && result.pending !== true)) ask.ends.add(result.ok ? 'ok' : result.error?.code ?? 'no code')
  }
}

async function job (actor: Actor): Promise<void> {
  const { ledger, random, world } = actor
  const tool = random.pick(toolNames)
  const maxAttempts = random.chance(0.3) ? random.int(2, 3) : 1
  const earlier = random.chance(0.2) ? recentAsks(ledger, 40).filter(({ jobIds }) => jobIds.size > 0) : []
  const after = earlier.length === 0 ? [] : [random.pick(earlier)]
  const mark = ledger.newMark()
  const callback = random.chance(0.3) ? `/${mark}` : undefined
  const ask = ledger.ask(mark, tool, { maxRuns: maxAttempts, after: after.map(each => each.mark), callback })
  const body = {
    type: tool === 'record' ? 'pylot.record' : `agentcli.${tool}`,
    input: argumentsOf(tool, mark, random),
    queue: random.pick(queues),
    priority: random.int(0, 10),
    max_attempts: maxAttempts,
    ...(random.chance(0.3) ? { delay_ms: random.int(1, 5_000) } : {}),
    ...(after.length === 0 ? {} : { depends_on: after.flatMap(each => [...each.jobIds].slice(0, 1)) }),
    ...(callback === undefined ? {} : { callback_url: world.receiver.url + callback })
  }
  await submit(actor, body, [mark], id => { ledger.named(ask, id) })
}

async function workflow (actor: Actor): Promise<void> {
  const { ledger, random } = actor
  const tool = random.pick(['once', 'again', 'flaky'] as const)
  const run = ledger.newMark()
  ledger.ask(`${run}.a`, 'once')
  ledger.ask(`${run}.b`, tool, { after: [`${run}.a`] })
  ledger.ask(`${run}.c`, 'once', { after: [`${run}.b`] })
  const asked = { run, tool, jobIds: new Set<string>(), cancel: undefined }
  ledger.workflows.push(asked)
  const marks = [run, `${run}.a`, `${run}.b`, `${run}.c`]
  await submit(actor, { type: 'workflow.run', input: { workflow: tool, params: { run } }, queue: random.pick(queues), timeout_sec: 120 }, marks, id => { ledger.named(asked, id) })
}

/** Cancels something that was asked for lately. */
async function cancel ({ ledger, random, caller }: Actor): Promise<void> {
  const found = [...recentAsks(ledger, 30), ...ledger.workflows.slice(-3)].filter(({ jobIds }) => jobIds.size > 0)
  if (found.length === 0) return
  const target = random.pick(found)
  const mark = 'mark' in target ? target.mark : target.run
  const id = [...target.jobIds][0] ?? ''
  ledger.history.add(`cancels ${id}`, mark)
  const answer = await caller.until<JobResponse>(caller.key(), `/v1/jobs/${id}/cancel`, { method: 'POST' })
  ledger.history.add(`the cancel is answered ${answer.status}: ${answer.text.slice(0, 200)}`, mark)
  if (answer.status === 200) {
    target.cancel = 'cancelled'
    target.cancelledAt = ledger.history.now()
    if (answer.body.job.status !== 'cancelled') ledger.doubt(`a cancelled job is ${answer.body.job.status}`, mark)
  } else if (answer.status === 409) target.cancel ??= 'finished'
  else if (answer.status !== 404) ledger.doubt(`a cancel was answered with ${answer.status}: ${answer.text.slice(0, 200)}`, mark)
}

/** Follows a job to its end, over as many connections as it takes. */
async function follow (actor: Actor): Promise<void> {
  const { ledger, caller } = actor
  const ask = ledger.ask(ledger.newMark(), 'talks')
  await submit(actor, { type: 'agentcli.talks', input: { mark: ask.mark } }, [ask.mark], id => { ledger.named(ask, id) })
  const [id] = ask.jobIds
  if (id === undefined) return
  const key = caller.key()
  const lines: string[] = []
  let lastId = ''
  const deadline = performance.now() + 60_000
  for (let isOver = false; !isOver && performance.now() < deadline;) {
    const steps: Array<() => unknown> = []
    const cleanup: Cleanup = { teardown: step => steps.push(step) }
    try {
      const reader = await openReader(cleanup, `${caller.address()}/v1/jobs/${id}/stream`, { key, headers: lastId === '' ? {} : { 'last-event-id': lastId } })
      await waitForEnd(reader, 15_000)
      lines.push(...reader.lines())
      lastId = reader.lastId() === '' ? lastId : reader.lastId()
      isOver = reader.events.some(({ name }) => name === 'end') || reader.status === 404
    } catch {
      await delay(300)
    }
    for (const step of steps) step()
  }
  const numbers = lines.flatMap(line => /^line (\d+)$/.exec(line)?.[1] ?? []).map(Number)
  ledger.history.add(`the stream showed the lines ${numbers.join()}`, ask.mark)
  if (numbers.some((number, index) => number !== index + 1)) ledger.doubt(`the stream of a job has gaps or doubles: ${numbers.join()}`, ask.mark)
}

/** Resolves when a stream is over, at the latest after `ms`: a process that is stopped sends nothing. */
async function waitForEnd (reader: EventReader, ms: number): Promise<void> {
  const deadline = performance.now() + ms
  while (!reader.isEnded() && performance.now() < deadline) await delay(50)
}

/** Reads the list of jobs page by page. */
async function page ({ ledger, random, caller }: Actor): Promise<void> {
  const seen = new Set<string>()
  const key = caller.key()
  let cursor = ''
  for (let pages = 0; pages < 5; pages++) {
    const answer = await caller.once<JobList>(key, `/v1/jobs?limit=${random.int(1, 100)}${cursor}`)
    if (answer === undefined) return
    if (answer.status !== 200) { ledger.doubt(`a list was answered with ${answer.status}: ${answer.text.slice(0, 200)}`); return }
    for (const { id } of answer.body.jobs) {
      if (seen.has(id)) ledger.doubt(`the list names ${id} twice`, id)
      seen.add(id)
    }
    if (answer.body.next_cursor === null) return
    cursor = `&cursor=${encodeURIComponent(answer.body.next_cursor)}`
  }
}

/** Looks at what else can be seen. */
async function look ({ ledger, random, caller }: Actor): Promise<void> {
  const id = [...recentAsks(ledger, 100).flatMap(({ jobIds }) => [...jobIds]), '00000000-0000-7000-8000-000000000000'].at(0) ?? ''
  const path = random.pick(['/v1/agent-tools', '/v1/job-types', '/v1/auth/whoami', '/ready', '/health', `/v1/jobs/${id}`, `/v1/jobs/${id}/logs`])
  const answer = await caller.once(caller.key(), path)
  if (answer !== undefined && ![200, 404].includes(answer.status)) ledger.doubt(`${path} was answered with ${answer.status}: ${answer.text.slice(0, 200)}`)
}

/** A session that gets files whose names are no UTF-8, and ends: at once, or with its time. */
async function session ({ ledger, random, caller }: Actor): Promise<void> {
  const key = caller.key()
  const made = await caller.until<{ session: SessionView }>(key, '/v1/sessions', { body: { ttl_sec: 60 } })
  if (made.status !== 200 && made.status !== 201) { ledger.doubt(`a session was answered with ${made.status}: ${made.text.slice(0, 200)}`); return }
  const path = `/v1/sessions/${made.body.session.id}`
  const called = await caller.once<InvokeBatchResponse>(key, '/v1/agent-tools/invoke-batch', {
    body: { calls: [{ call_id: 'odd', name: 'odd', arguments: {} }], wait_ms: 8_000, session: made.body.session.id }
  })
  const [result] = called?.body.results ?? []
  const listed = await caller.once<FileList>(key, `${path}/files`)
  const names = listed?.body.entries?.map(({ name }) => name).join()
  if (result?.ok === true && result.pending !== true && listed?.status === 200 && names !== '\\xFF\\xFE,odd\\xFF\\xFE') ledger.doubt(`a session lists ${names}`)
  if (random.chance(0.3)) return
  const removed = await caller.until(key, path, { method: 'DELETE' })
  if (![200, 202, 404, 409].includes(removed.status)) ledger.doubt(`the removal of a session was answered with ${removed.status}: ${removed.text.slice(0, 200)}`)
}

function recentAsks (ledger: Ledger, count: number): Ask[] {
  return ledger.asks.slice(-count)
}

function argumentsOf (tool: SoakTool, mark: string, random: Random): Record<string, unknown> {
  if (tool === 'record') return { mark, ms: random.int(0, 150) }
  return random.chance(0.3) && tool !== 'flaky' ? { mark, sec: (random.int(1, 30) / 10).toFixed(1) } : { mark }
}
