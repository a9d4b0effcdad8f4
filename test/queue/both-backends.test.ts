import { describeBackend, JobQueues, QueueDirectory, type BackendKind } from '@toolyard/queue'
import { newJobId } from '@toolyard/store'
import { Job } from 'bullmq'
import fc from 'fast-check'
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { connectTo } from '../support/connection.ts'
import { startTestRedis } from '../support/redis.ts'

/*
 * Random sequences of what happens to jobs, done with both backends: they must answer the same and leave the same in Redis,
 * times included. Two workers take jobs in turn, jobs make steps and wait for them, and a worker that has lost a job goes on
 * with it. The time is Redis', which is made up here; the clocks of the two machines are wrong, each in its own way.
 */

const redis = await connectTo(t, await startTestRedis(t))
/** One: each listens to the connection. */
const directory = new QueueDirectory(redis, 2)
const retention = { ageSec: 20, count: 4 }
/** What the workers lock jobs with. */
const tokens = ['one worker', 'another']
const backoff = { type: 'exponential', delay: 1_000, jitter: 0.5 } as const
const data = { tool: 'é', arguments: {}, timeoutSec: 1, tags: [], keyName: 'k' }
const startMs = Date.now()

/** What may happen; `at` chooses one of the jobs that are held, and `of` the one that jobs are steps of. */
type Step =
  | { kind: 'add', jobs: Array<{ priority: number, delayMs: number, maxAttempts: number, onceSec: number }>, of: number | undefined }
  | { kind: 'take', worker: number }
  | { kind: 'stalled' | 'pause' | 'resume' }
  | { kind: 'succeed' | 'fail' | 'give up', at: number, fetchNext: boolean }
  | { kind: 'begin' | 'lose' | 'put off' | 'give back' | 'await steps', at: number }
  | { kind: 'pass', ms: number }

const at = fc.nat(9)
const steps: fc.Arbitrary<Step[]> = fc.array(fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('add' as const), jobs: fc.array(fc.record({ priority: fc.nat(10), delayMs: fc.constantFrom(0, 0, 0, 2_000), maxAttempts: fc.constantFrom(1, 1, 3), onceSec: fc.constantFrom(0, 60) }), { minLength: 1, maxLength: 4 }), of: fc.option(at, { nil: undefined, freq: 2 }) }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('take' as const), worker: fc.nat(1) }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constantFrom('succeed' as const, 'fail' as const, 'give up' as const), at, fetchNext: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('begin' as const, 'lose' as const, 'put off' as const, 'give back' as const), at }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('await steps' as const), at }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.constantFrom(1, 700, 3_000, 30_000) }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constantFrom('stalled' as const, 'pause' as const, 'resume' as const) }) }
), { minLength: 1, maxLength: 30, size: 'max' })

interface World {
  nowMs: number
  /** By how much each machine's clock is wrong. */
  skewMs: Record<BackendKind, number>
}

/** A queue that is served with one of the backends. */
class Side {
  readonly #kind: BackendKind
  readonly #queues: JobQueues
  readonly #held: Array<{ id: string, isUnbegun: boolean, token: string }> = []

  constructor (kind: BackendKind) {
    this.#kind = kind
    this.#queues = new JobQueues(redis, directory, retention, { backend: kind })
  }

  /** What the step answers. */
  async do (step: Step, ids: readonly string[], world: World): Promise<unknown> {
    Date.now = () => world.nowMs + world.skewMs[this.#kind]
    const queue = this.#queues.open(this.#kind)
    const { backend } = queue
    switch (step.kind) {
      case 'add': {
        const parent = step.of === undefined || this.#held.length === 0 ? undefined : this.#held[step.of % this.#held.length]
        // As `JobQueues` makes them.
        const refused = await backend.addAll(step.jobs.map(({ priority, delayMs, maxAttempts, onceSec }, place) => {
          const id = ids[place] ?? ''
          const opts = {
            jobId: id,
            priority: 11 - priority,
            stackTraceLimit: 0,
            attempts: maxAttempts,
            ...(maxAttempts === 1 ? {} : { backoff }),
            ...(delayMs === 0 ? {} : { delay: delayMs }),
            ...(parent === undefined ? {} : { parent: { id: parent.id, queue: this.#key('').slice(0, -1) }, continueParentOnFailure: true })
          }
          const made = new Job(queue, 'x', data, opts, id)
          made.timestamp = backend.now()
          const plain = { name: 'x', data: JSON.stringify(data), opts: JSON.stringify(opts), timestamp: backend.now(), priority: opts.priority }
          const entries = place % 2 === 0 ? [`${id} []`] : [`${id} []`, `@acme ${id} []`]
          const parentKeys = made.parentKey === undefined ? {} : { parentKey: made.parentKey, parentDependenciesKey: `${made.parentKey}:dependencies` }
          const isPlain = delayMs === 0 && parent === undefined
          return { id, entries, onceSec, ...isPlain && { plain }, general: () => ({ job: made.asJSON(), parent: parentKeys }) }
        }))
        return refused.size
      }
      case 'take': {
        const token = tokens[step.worker] ?? ''
        return this.#hold(await backend.moveToActive(token), token)
      }
      case 'stalled':
        // As a worker's backend has it.
        Object.assign((backend as unknown as { queue: { opts: object } }).queue.opts, { maxStalledCount: 1, stalledInterval: 500 })
        await redis.del(this.#key('stalled-check'))
        return (await backend.moveStalledJobsToWait()).sort()
      case 'pause': return await queue.pause()
      case 'resume': return await queue.resume()
      case 'pass': return undefined
      default: return await this.#doTo(step)
    }
  }

  /** All that is in Redis, by keys without the queue. */
  async dump (): Promise<Record<string, unknown>> {
    const keys = (await redis.keys(this.#key('*'))).filter(key => !/:(events|id|stalled-check|turns:.*)$/.test(key)).sort()
    const stem = this.#key('').length
    const left = Object.fromEntries(await Promise.all(keys.map(async key => [key.slice(stem), await this.#read(key)] as const)))
    // BullMQ wakes a worker also where there is nothing to take.
    const marker = left['marker'] as string[] | undefined
    if (marker?.[0] === '0' && left['wait'] === undefined && left['prioritized'] === undefined) left['marker'] = marker.slice(2)
    if ((left['marker'] as string[] | undefined)?.length === 0) delete left['marker']
    if (Object.keys(left['meta'] ?? {}).length === 0) delete left['meta']
    return JSON.parse(JSON.stringify(left).replaceAll(`{${this.#kind}}`, '{queue}')) as Record<string, unknown>
  }

  async close (): Promise<void> {
    await this.#queues.close()
  }

  async #doTo ({ kind, at, ...more }: Extract<Step, { at: number }>): Promise<unknown> {
    if (this.#held.length === 0) return undefined
    const place = at % this.#held.length
    // A worker that has lost its lock doesn't know it, and goes on.
    const [held] = kind === 'begin' || kind === 'lose' || kind === 'await steps' ? this.#held.slice(place) : this.#held.splice(place, 1)
    const { id = '', isUnbegun = false, token = '' } = held ?? {}
    const { backend } = this.#queues.open(this.#kind)
    const job = await this.#queues.open(this.#kind).getJob(id)
    if (job === undefined) return 'gone'
    if (isUnbegun) backend.runs.noteUnbegun(job)
    const fetchNext = 'fetchNext' in more && more.fetchNext
    try {
      switch (kind) {
        case 'succeed': return this.#hold(await job.moveToCompleted({ kind: 'inline', value: 'ü' }, token, fetchNext) as unknown, token)
        case 'fail': return this.#hold(await job.moveToFailed(new Error('two\nlines'), token, fetchNext) as unknown, token)
        case 'give up':
          Object.assign(job.opts, { attempts: 1 })
          return this.#hold(await job.moveToFailed(new Error('no'), token, fetchNext) as unknown, token)
        case 'lose': return await redis.del(`${this.#key(id)}:lock`)
        case 'put off':
          await backend.runs.uncount(job, token)
          await job.moveToDelayed(Date.now() + 1_000, token)
          return undefined
        case 'give back':
          await job.moveToWait(token)
          return await redis.zadd(this.#key('marker'), 0, '0') >= 0
        case 'await steps': {
          const isParked = await job.moveToWaitingChildren(token)
          if (isParked) this.#held.splice(place, 1)
          return isParked
        }
        default:
          if (held !== undefined) held.isUnbegun = false
          return await backend.runs.begin(job, token)
      }
    } catch (error) {
      return (error as Error).message.replaceAll(this.#kind, 'queue')
    }
  }

  /** Holds the job that was taken, if there is one. */
  #hold (taken: unknown, token: string): unknown {
    const [fields, id] = Array.isArray(taken) ? taken as [Record<string, unknown> | null | undefined, string] : []
    if (fields === null || fields === undefined || id === undefined) return undefined
    this.#held.push({ id, isUnbegun: fields['isUnbegun'] === true, token })
    return JSON.parse(JSON.stringify(fields).replaceAll(`{${this.#kind}}`, '{queue}')) as unknown
  }

  async #read (key: string): Promise<unknown> {
    const type = await redis.type(key)
    if (type === 'hash') {
      const { opts, 'opts.maxLenEvents': _, ...fields } = await redis.hgetall(key)
      return { ...fields, ...(opts === undefined ? {} : { opts: JSON.parse(opts) as unknown }) }
    }
    if (type === 'list') return await redis.lrange(key, 0, -1)
    if (type === 'set') return (await redis.smembers(key)).sort()
    if (type === 'string') return [await redis.get(key), await redis.pttl(key) > 0]
    return await redis.zrange(key, '0', '-1', 'WITHSCORES')
  }

  #key (name: string): string {
    return `toolyard:{${this.#kind}}:${name}`
  }
}

/** Does all steps with both backends, one step after the other. */
async function compare (todo: readonly Step[], skewMs: World['skewMs']): Promise<void> {
  await redis.flushdb()
  const world: World = { nowMs: startMs, skewMs }
  Object.assign(performance, { now: () => world.nowMs - startMs })
  const sides = [new Side('fast'), new Side('bullmq')] as const
  try {
    for (const [place, step] of todo.entries()) {
      if (step.kind === 'pass') world.nowMs += step.ms
      const ids = step.kind === 'add' ? step.jobs.map(() => newJobId(world.nowMs)) : []
      const answers: unknown[] = []
      for (const side of sides) answers.push(await side.do(step, ids, world))
      const [ours, theirs] = [{ answer: answers[0], left: await sides[0].dump() }, { answer: answers[1], left: await sides[1].dump() }]
      if (!isDeepStrictEqual(ours, theirs)) throw new Error(`step ${place} ${JSON.stringify(step)}\nfast   ${JSON.stringify(ours)}\nbullmq ${JSON.stringify(theirs)}`)
    }
  } finally {
    await Promise.all(sides.map(side => side.close()))
  }
}

t.test('BullMQ\'s scripts are the versions that ours replace', async t => {
  t.equal(describeBackend('fast'), 'fast', 'what to do: packages/queue/src/backend/README.md')
})

t.test('both backends give the same answers and leave the same data in Redis, for any operations and any clocks', async t => {
  const [now, random, run] = [Date.now, Math.random, redis.eval.bind(redis) as (...args: unknown[]) => Promise<unknown>]
  const tick = performance.now.bind(performance)
  t.teardown(() => {
    Date.now = now
    Math.random = random
    Object.assign(performance, { now: tick })
  })
  Math.random = () => 0.5
  // The last measurement of Redis' clock holds: the made-up time passes by the clock of the process.
  Object.assign(redis, { eval: async (...args: unknown[]) => args[0] === "return redis.call('TIME')" ? await Promise.reject(new Error('not now')) : await run(...args) })
  const hours = fc.integer({ min: -72, max: 72 }).map(count => count * 3_600_000)
  await t.resolves(fc.assert(fc.asyncProperty(steps, fc.record({ fast: hours, bullmq: hours }), compare), { numRuns: Number(process.env['BACKEND_RUNS'] ?? 50) }))
})
