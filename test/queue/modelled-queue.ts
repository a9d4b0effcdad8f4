import { JobQueues, type QueueDirectory } from '@toolyard/queue'
import { newJobId, type Redis } from '@toolyard/store'
import { Job, Queue } from 'bullmq'

/** So many of BullMQ's priorities are one of ours. */
const turns = 190_650
const tokens = ['one worker', 'another']
const data = { tool: 'é', arguments: {}, timeoutSec: 1, tags: [], keyName: 'k' }

/** `at` chooses one of the jobs that are held. */
export type Step =
  | { kind: 'add', jobs: Array<{ priority: number, delayMs: number, maxAttempts: number }>, again: boolean }
  | { kind: 'take', worker: number }
  | { kind: 'stalled' | 'pause' | 'resume' }
  | { kind: 'succeed' | 'fail' | 'begin' | 'lose' | 'put off' | 'give back', at: number, fetchNext: boolean }
  | { kind: 'pass', ms: number }

interface ModelJob {
  state: 'prioritized' | 'waiting' | 'delayed' | 'active' | 'completed' | 'failed'
  /** BullMQ's: low numbers first. */
  priority: number
  /** In which order those of one priority came. */
  arrival: number
  dueMs: number
  attempts: number
  /** Runs that have failed or ended. */
  ended: number
  /** Whether a run of it has failed: BullMQ keeps the reason. */
  hasFailed: boolean
  wasTaken: boolean
  /** Who has its lock. */
  holder?: string | undefined
}

interface Held { id: string, token: string, isUnbegun: boolean }

/** A queue and its model, side by side. */
export class ModelledQueue {
  nowMs: number
  readonly #redis: Redis
  readonly #queues: JobQueues
  readonly #theirs: Queue
  readonly #jobs = new Map<string, ModelJob>()
  readonly #held: Held[] = []
  #isPaused = false
  #arrivals = 0

  constructor (redis: Redis, directory: QueueDirectory, nowMs: number) {
    this.nowMs = nowMs
    this.#redis = redis
    this.#queues = new JobQueues(redis, directory, { ageSec: 3_600, count: 1_000 })
    this.#theirs = new Queue('{q}', { connection: redis, prefix: 'toolyard', skipMetasUpdate: true, skipVersionCheck: true })
  }

  async close (): Promise<void> {
    await this.#queues.close()
    await this.#theirs.close()
  }

  async do (step: Step): Promise<void> {
    const queue = this.#queues.open('q')
    switch (step.kind) {
      case 'pass':
        this.nowMs += step.ms
        return
      case 'pause':
      case 'resume':
        this.#isPaused = step.kind === 'pause'
        await this.#queues.pause('q', this.#isPaused)
        return
      case 'add':
        await this.#add(step)
        return
      case 'take': {
        const token = tokens[step.worker] ?? ''
        await this.#take(await queue.backend.moveToActive(token), token)
        return
      }
      case 'stalled': {
        // As a worker's backend has it.
        Object.assign((queue.backend as unknown as { queue: { opts: object } }).queue.opts, { maxStalledCount: 100, stalledInterval: 500 })
        await this.#redis.del('toolyard:{q}:stalled-check')
        await queue.backend.moveStalledJobsToWait()
        await this.#redis.del('toolyard:{q}:stalled-check')
        await queue.backend.moveStalledJobsToWait()
        for (const model of this.#jobs.values()) if (model.state === 'active' && model.holder === undefined) model.state = 'waiting'
        return
      }
      default: await this.#doTo(step)
    }
  }

  /** All jobs and the counts of states, as BullMQ reads them and as the model has them. */
  async states (): Promise<[read: unknown, modelled: unknown]> {
    const read: Record<string, unknown> = {}
    const modelled: Record<string, unknown> = {}
    const counts: Record<string, number> = { prioritized: 0, waiting: 0, delayed: 0, active: 0, completed: 0, failed: 0 }
    for (const [id, model] of this.#jobs) {
      const found = await Job.fromId(this.#theirs, id)
      read[id] = found && {
        state: await found.getState(),
        ended: found.attemptsMade,
        priority: found.priority,
        value: found.returnvalue as unknown,
        reason: found.failedReason,
        hasEnded: found.finishedOn !== undefined
      }
      modelled[id] = {
        state: model.state,
        ended: model.ended,
        priority: model.priority,
        value: model.state === 'completed' ? { kind: 'inline', value: 'ü' } : null,
        reason: model.hasFailed ? 'two\nlines' : undefined,
        hasEnded: model.state === 'completed' || model.state === 'failed'
      }
      counts[model.state] = (counts[model.state] ?? 0) + 1
    }
    const { paused, wait, 'waiting-children': parked, ...others } = await this.#theirs.getJobCounts('prioritized', 'wait', 'delayed', 'active', 'completed', 'failed', 'waiting-children')
    read['counts'] = { ...others, waiting: wait, parked, isPaused: await this.#theirs.isPaused() }
    modelled['counts'] = { ...counts, parked: 0, isPaused: this.#isPaused }
    return [read, modelled]
  }

  async #add ({ jobs, again }: Extract<Step, { kind: 'add' }>): Promise<void> {
    const added = jobs.map(({ priority, ...rest }) => ({ id: newJobId(this.nowMs), type: 'x', data, priority, ...rest }))
    const refused = await this.#queues.add('q', added)
    // A job whose id exists is left as it is.
    if (again) await this.#queues.add('q', added)
    if (refused.size > 0) throw new Error('a job was refused')
    for (const { id, delayMs, maxAttempts } of added) {
      const { priority } = await Job.fromId(this.#theirs, id) ?? { priority: 0 }
      this.#jobs.set(id, {
        state: delayMs === 0 ? 'prioritized' : 'delayed', priority, arrival: ++this.#arrivals, dueMs: this.nowMs + delayMs, attempts: maxAttempts, ended: 0, hasFailed: false, wasTaken: false
      })
    }
  }

  /** Checks that a job that was taken was the next one, and holds it. */
  async #take (taken: unknown, token: string): Promise<void> {
    const [fields, id] = Array.isArray(taken) ? taken as [Record<string, unknown> | null | undefined, string | undefined] : []
    const waiting = await this.#next()
    if (fields === null || fields === undefined || id === undefined) {
      if (waiting.length > 0) throw new Error(`none of ${waiting.join(', ')} was taken`)
      return
    }
    if (!waiting.includes(id)) throw new Error(`${id} was taken, where one of ${waiting.join(', ')} was next`)
    Object.assign(this.#jobs.get(id) ?? {}, { state: 'active', holder: token, wasTaken: true })
    this.#held.push({ id, token, isUnbegun: fields['isUnbegun'] === true })
  }

  /** The ids of which one is next: what was taken from a lost worker goes first. */
  async #next (): Promise<string[]> {
    const due = [...this.#jobs].filter(([, { state, dueMs }]) => state === 'delayed' && dueMs <= this.nowMs).sort(([, a], [, b]) => a.dueMs - b.dueMs)
    for (const [id, model] of due) {
      // One that waited from the beginning has its turn from now on; one that was taken keeps its own.
      const { priority } = model.wasTaken ? model : await Job.fromId(this.#theirs, id) ?? model
      if (Math.trunc((priority - 1) / turns) !== Math.trunc((model.priority - 1) / turns)) throw new Error(`${id} has another priority`)
      Object.assign(model, { state: 'prioritized', priority, arrival: ++this.#arrivals })
    }
    if (this.#isPaused) return []
    const inState = (wanted: string): string[] => [...this.#jobs].filter(([, { state }]) => state === wanted).map(([id]) => id)
    const back = inState('waiting')
    if (back.length > 0) return back
    const ranked = inState('prioritized').map(id => ({ id, ...this.#jobs.get(id) })).sort((a, b) => (a.priority ?? 0) - (b.priority ?? 0) || (a.arrival ?? 0) - (b.arrival ?? 0) || (a.id < b.id ? -1 : 1))
    return ranked.slice(0, 1).map(({ id }) => id)
  }

  async #doTo ({ kind, at, fetchNext }: Extract<Step, { at: number }>): Promise<void> {
    const place = at % Math.max(1, this.#held.length)
    // A worker that has lost its lock doesn't know it, and goes on.
    const [held] = kind === 'begin' || kind === 'lose' ? this.#held.slice(place, place + 1) : this.#held.splice(place, 1)
    if (held === undefined) return
    const { id, token } = held
    const model = this.#jobs.get(id)
    const queue = this.#queues.open('q')
    const found = await queue.getJob(id)
    if (found === undefined || model === undefined) throw new Error(`${id} is gone`)
    if (held.isUnbegun) queue.backend.runs.noteUnbegun(found)
    const isHolder = model.state === 'active' && model.holder === token
    try {
      switch (kind) {
        case 'lose':
          if (isHolder) {
            await this.#redis.del(`toolyard:{q}:${id}:lock`)
            model.holder = undefined
          }
          return
        case 'begin':
          held.isUnbegun = false
          if (await queue.backend.runs.begin(found, token) !== isHolder) throw new Error(`the beginning of ${id} was answered wrongly`)
          return
        case 'put off':
          await queue.backend.runs.uncount(found, token)
          await found.moveToDelayed(Date.now() + 1_000, token)
          Object.assign(model, { state: 'delayed', dueMs: this.nowMs + 1_000, holder: undefined })
          break
        case 'give back':
          await found.moveToWait(token)
          // The first of its priority.
          Object.assign(model, { state: 'prioritized', arrival: 0, holder: undefined })
          break
        default: {
          const next: unknown = kind === 'succeed'
            ? await found.moveToCompleted({ kind: 'inline', value: 'ü' }, token, fetchNext)
            : await found.moveToFailed(new Error('two\nlines'), token, fetchNext)
          model.ended += 1
          model.hasFailed ||= kind === 'fail'
          model.holder = undefined
          const isRetried = kind === 'fail' && model.ended < model.attempts
          model.state = kind === 'succeed' ? 'completed' : isRetried ? 'delayed' : 'failed'
          // The first pause is 1 s, less the half that chance may take; each further one is twice as long.
          if (isRetried) model.dueMs = this.nowMs + 750 * 2 ** (model.ended - 1)
          if (fetchNext && !isRetried) await this.#take(next, token)
        }
      }
      if (!isHolder) throw new Error(`${kind} of ${id} by ${token}, which had lost it, was taken`)
    } catch (error) {
      if (isHolder || !/Missing lock|not in the|Lock mismatch/.test((error as Error).message)) throw error
    }
  }
}
