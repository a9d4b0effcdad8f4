import { Approvals, FinishedJobs, heldJob, JobCanceller, JobReader, OutputStore, type HeldCall } from '@toolyard/queue'
import { jobKey, newJobId, queueKey } from '@toolyard/store'
import fc from 'fast-check'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { startPool } from '../support/pool.ts'
import { startTestRedis } from '../support/redis.ts'

/*
 * The states of a held call, compared with a model: whatever people do in whatever order, it runs as often as the model says, and
 * its record says what became of it. The tool asks three things at once before it does its work, whose answers come in any order;
 * `change` gives it another version.
 */

const queue = 'q'
const retention = { ageSec: 60, count: 1_000 }
const server = await startTestRedis(t)
const versions = new Map<string, number>()
const runs = new Map<string, number>()
const question = (name: string): { name: string, text: string, schema: Record<string, unknown> } => ({ name, text: 'Which?', schema: { type: 'object' } })
const answerTo = (number: number): string => `{"to":${number}}`
const digestOf = (version: number, first: string): string => version === 0 ? first : String(version).padStart(64, '0')
const { redis, directory, queues } = await startPool(t, server, {
  concurrency: 8,
  handle: async ({ id, data, approved, answers = [] }) => {
    const digest = digestOf(versions.get(id) ?? 0, data.hold?.digest ?? '')
    if (approved !== digest) return { kind: 'held', held: { digest, changed: 'it', program: null } }
    if (answers.length === 0) return { kind: 'asks', ask: { ...question('a'), more: [question('b'), question('c')] } }
    if (answers.join() !== [1, 2, 3].map(answerTo).join()) throw new Error(`These are not the answers: ${answers.join()}`)
    runs.set(id, (runs.get(id) ?? 0) + 1)
    return { kind: 'succeeded', json: '1', value: 1 }
  }
})
const jobs = new JobReader({ redis, directory, queues, outputs: new OutputStore(redis, retention) })
const canceller = new JobCanceller(redis, queues)
const approvals = new Approvals({ redis, queues, jobs, canceller })
const finished = new FinishedJobs({ redis, queues, canceller, retention })

interface Model {
  status: 'held' | 'input_required' | 'succeeded' | 'failed' | 'cancelled'
  code: string | undefined
  /** The version that is shown to approvers, and the one that would run. */
  shown: number
  current: number
  /** Questions without an answer. */
  open: number[]
  runs: number
}

interface Case { id: string, first: string, model: Model }

async function add (): Promise<Case> {
  const id = newJobId()
  const job = heldJob(
    { id, type: 'x', data: { tool: 'x', arguments: {}, timeoutSec: 5, tags: [], keyName: 'k' } },
    { approvers: 1, self: false, expiresSec: 60 }, { entry: 'e', program: null, key: '' }
  )
  await queues.add(queue, [job])
  return { id, first: job.data.hold?.digest ?? '', model: { status: 'held', code: undefined, shown: 0, current: 0, open: [1, 2, 3], runs: 0 } }
}

async function look (id: string): Promise<HeldCall> {
  const call = await jobs.held(queue, id)
  if (call === undefined) throw new Error(`${id} is gone`)
  return call
}

/** An approved call when a worker takes it. */
function take (model: Model): void {
  if (model.shown !== model.current) Object.assign(model, { status: 'held', shown: model.current })
  else if (model.open.length > 0) model.status = 'input_required'
  else Object.assign(model, { status: 'succeeded', runs: model.runs + 1 })
}

async function decide ({ id }: Case, decision: 'approve' | 'deny', digest?: string): Promise<string> {
  const call = await look(id)
  return (await approvals.decide({ ...call, queue, id }, { key: 'boss', decision, digest: digest ?? call.approval.digest }, async () => true)).result
}

/** As if its time were over. */
async function endTime (id: string, field: 'approval' | 'asked', record: object): Promise<void> {
  await redis.hset(jobKey(queue, id), field, JSON.stringify({ ...record, expiresAt: Date.now() - 1_000, ends: Date.now() - 1_000 }))
  await (await queues.open(queue).getJob(id))?.promote().catch(() => {})
}

/** Without a number it is the first open question that is answered. */
async function answer ({ id, model }: Case, number?: number): Promise<void> {
  const { status, open } = model
  const wanted = number ?? open[0] ?? 0
  const said = await approvals.answer({ queue, id, tenant: undefined }, { answer: answerTo(wanted), number, isChecked: true })
  if (status !== 'input_required') return
  // The same answer again, when another one at the same time was the last that was wanted.
  const isRepeat = said === 'done' && !open.includes(wanted)
  if (said !== 'noted' && said !== 'taken' && !isRepeat) throw new Error(`${wanted} was ${said}`)
  model.open = model.open.filter(each => each !== wanted)
  if (model.open.length === 0 && model.status === 'input_required') take(model)
}

const operations = {
  approve: async (one: Case): Promise<void> => {
    await decide(one, 'approve')
    if (one.model.status === 'held') take(one.model)
  },
  deny: async (one: Case): Promise<void> => {
    await decide(one, 'deny')
    if (one.model.status === 'held') Object.assign(one.model, { status: 'failed', code: 'APPROVAL_DENIED' })
  },
  'approve something else': async (one: Case): Promise<void> => { await decide(one, 'approve', 'f'.repeat(64)) },
  'approve and deny at once': async (one: Case): Promise<void> => {
    const [approval] = await Promise.all([decide(one, 'approve'), decide(one, 'deny')])
    if (one.model.status !== 'held') return
    if (approval === 'approved') take(one.model)
    else Object.assign(one.model, { status: 'failed', code: 'APPROVAL_DENIED' })
  },
  cancel: async ({ id, model }: Case): Promise<void> => {
    await canceller.cancel(queue, id)
    if (model.status === 'held' || model.status === 'input_required') Object.assign(model, { status: 'cancelled', code: 'JOB_CANCELLED' })
  },
  change: async ({ id, model }: Case): Promise<void> => {
    model.current += 1
    versions.set(id, model.current)
  },
  answer: async (one: Case): Promise<void> => { await answer(one) },
  'answer the last': async (one: Case): Promise<void> => { await answer(one, 3) },
  'answer the second, and again': async (one: Case): Promise<void> => {
    await answer(one, 2)
    await answer(one, 2)
  },
  'answer two at once': async (one: Case): Promise<void> => { await Promise.all([answer(one, 1), answer(one, 3)]) },
  'answer what is not asked': async ({ id }: Case): Promise<void> => {
    const said = await approvals.answer({ queue, id, tenant: undefined }, { answer: '{}', number: 4, isChecked: true })
    if (!['other', 'unasked', 'ended'].includes(said)) throw new Error(`It was ${said}`)
  },
  expire: async ({ id, first, model }: Case): Promise<void> => {
    const [approval, asked] = await redis.hmget(jobKey(queue, id), 'approval', 'asked')
    if (model.status === 'held') {
      await endTime(id, 'approval', { state: 'held', digest: first, heldAt: Date.now() - 2_000, ...JSON.parse(approval ?? '{}') as object })
      Object.assign(model, { status: 'failed', code: 'APPROVAL_EXPIRED' })
    } else if (model.status === 'input_required') {
      await endTime(id, 'asked', JSON.parse(asked ?? '{}') as object)
      Object.assign(model, { status: 'failed', code: 'INPUT_EXPIRED' })
    }
  },
  'run again': async ({ id, model }: Case): Promise<void> => {
    await finished.rerun(queue, id, { keyName: 'admin', mayRun: () => true })
    if (model.status === 'failed') Object.assign(model, { status: 'held', code: undefined, shown: 0, open: [1, 2, 3] })
  }
} as const

async function check ({ id, first, model }: Case, about: string): Promise<void> {
  const isAsModelled = async (): Promise<boolean> => {
    const { status, approval } = await look(id)
    const reason = await redis.hget(jobKey(queue, id), 'failedReason') ?? ''
    // A job that rests is among the delayed ones: no worker has it.
    const rests = model.status !== 'held' && model.status !== 'input_required' ? true : await redis.zscore(queueKey(queue, 'delayed'), id) !== null
    return status === model.status && rests && (model.code === undefined || reason.includes(`"${model.code}"`)) &&
      (model.status !== 'held' || approval.digest === digestOf(model.shown, first))
  }
  await waitFor(`${about}: ${JSON.stringify(model)}`, isAsModelled, 8_000)
  if ((runs.get(id) ?? 0) !== model.runs) throw new Error(`${about}: it ran ${String(runs.get(id))} times, and ${model.runs} are right`)
  const isIndexed = await redis.zlexcount(queueKey(queue, 'held'), `[${id} `, `(${id}!`) === 1
  if (isIndexed !== (model.status === 'held' || model.status === 'input_required')) throw new Error(`${about}: the index of held calls is wrong`)
}

t.test('whatever is done to a held call in any order, it is in the state of the model and has run as often', { timeout: 240_000 }, async t => {
  const names = Object.keys(operations) as Array<keyof typeof operations>
  const likely: Array<keyof typeof operations> = [...names, 'approve', 'approve', 'answer', 'run again']
  await fc.assert(fc.asyncProperty(fc.array(fc.constantFrom(...likely), { minLength: 1, maxLength: 12 }), async steps => {
    const one = await add()
    for (const [at, name] of steps.entries()) {
      await operations[name](one)
      await check(one, steps.slice(0, at + 1).join(', '))
    }
  }), { numRuns: 60 })
  t.pass()
})
