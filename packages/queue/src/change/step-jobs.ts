import { setImmediate as turn } from 'node:timers/promises'
import type { CallError, OutputCut, OutputRecord } from '@toolyard/contract'
import { type Redis, jobKey, jobPartKey, placeOfKey, rerunsField, serverTime } from '@toolyard/store'
import type { JobCanceller } from './job-canceller.ts'
import { StepMadeError } from '../backend/add-jobs.ts'
import type { JobQueues } from '../queues/job-queues.ts'
import { approvalField } from '../record/approval.ts'
import { personWaitsOf, type PersonWait } from '../record/person-waits.ts'
import { askedField } from '../record/question.ts'
import type { NewJob } from '../record/new-job.ts'
import type { OutputStore } from '../read/output-store.ts'
import { decodeFailure, decodeOutput } from '../record/settlement.ts'

/*
 * The jobs that one job makes as its steps: BullMQ's children of a parent. The script that settles a step stores its
 * outcome with the parent. The parent's record has the plan before a job is added, and gets the id of each step with its
 * job, so a parent that is run again makes nothing twice. Names in the record have the number of the attempt and of the operator's run:
 * each of these begins anew. See docs/decisions/0045-workflow-steps.md.
 */

interface ParentJob {
  queue: string
  id: string
  /** How many runs of the job have failed since it was added, or run again by an operator. */
  attempt: number
}

export interface StepOutput {
  queue: string
  /** The JSON of its `OutputRecord`: a hundred of them are parsed one by one. */
  record: string
}

/** The steps of a job, by job id; those that were not added are in none of them. */
interface StepStates {
  pending: ReadonlySet<string>
  succeeded: ReadonlyMap<string, StepOutput>
  failed: ReadonlyMap<string, CallError>
}

interface StepJobsParts {
  redis: Redis
  queues: JobQueues
  outputs: OutputStore
  canceller: JobCanceller
}

export class StepJobs {
  readonly #parts: StepJobsParts

  constructor (parts: StepJobsParts) {
    this.#parts = parts
  }

  /** Redis' time, in milliseconds since 1970: the runs of one job may be on several machines. */
  now (): number {
    return serverTime(this.#parts.redis)
  }

  /** Keeps a text with the attempt, once: every later call gets the first one. */
  async keep (parent: ParentJob, make: () => Promise<string>): Promise<string> {
    const key = jobKey(parent.queue, parent.id)
    const field = `plan:${await this.#attemptOf(parent)}`
    const kept = await this.#parts.redis.hget(key, field)
    if (kept !== null) return kept
    const made = await make()
    if (await this.#parts.redis.hsetnx(key, field, made) === 1) return made
    return await this.#parts.redis.hget(key, field) ?? made
  }

  async ids (parent: ParentJob, steps: readonly string[]): Promise<Map<string, string>> {
    const attempt = await this.#attemptOf(parent)
    const ids = await this.#parts.redis.hmget(jobKey(parent.queue, parent.id), ...steps.map(step => fieldOf(attempt, step)))
    return new Map(steps.flatMap((step, index) => typeof ids[index] === 'string' ? [[step, ids[index]]] : []))
  }

  /**
   * Adds the job of a step, unless there is one.
   *
   * @returns the id of the step's job
   * @throws QueueLimitError; QueueFullError; Error when Redis refuses it.
   */
  async add (parent: ParentJob, { step, queue }: { step: string, queue: string }, make: (id: string) => Promise<NewJob>): Promise<string> {
    const field = fieldOf(await this.#attemptOf(parent), step)
    const id = await this.#parts.redis.hget(jobKey(parent.queue, parent.id), field) ?? this.#parts.queues.newId()
    const refused = await this.#parts.queues.add(queue, [{ ...await make(id), parent: { queue: parent.queue, id: parent.id, field } }])
    const error = refused.get(id)
    if (error instanceof StepMadeError) return error.id
    if (error !== undefined) throw error
    return id
  }

  async states ({ queue, id }: ParentJob): Promise<StepStates> {
    const { redis } = this.#parts
    const [pending, processed, failed] = await Promise.all([redis.smembers(jobPartKey(queue, id, 'dependencies')), redis.hgetall(jobPartKey(queue, id, 'processed')), redis.hgetall(jobPartKey(queue, id, 'failed'))])
    return {
      pending: new Set(pending.map(key => placeOfKey(key).id)),
      succeeded: new Map(
        Object.entries(processed).map(([child, value]) => [placeOfKey(child).id, { queue: placeOfKey(child).queue, record: value }])
      ),
      failed: new Map(Object.entries(failed).map(([child, reason]) => [placeOfKey(child).id, decodeFailure(reason)]))
    }
  }

  /** When steps waited for people. */
  async personWaits ({ queue, id }: ParentJob): Promise<PersonWait[]> {
    const { redis } = this.#parts
    const [pending, processed, failed] = await Promise.all([redis.smembers(jobPartKey(queue, id, 'dependencies')), redis.hkeys(jobPartKey(queue, id, 'processed')), redis.hkeys(jobPartKey(queue, id, 'failed'))])
    const records = await Promise.all([...pending, ...processed, ...failed].map(placeOfKey).map(async step => (
      await redis.hmget(jobKey(step.queue, step.id), 'timestamp', 'opts', 'finishedOn', approvalField, askedField)
    )))
    return records.flatMap(personWaitsOf)
  }

  async output (id: string, { queue, record }: StepOutput): Promise<{ json: string, cut?: OutputCut }> {
    const output = await parsed(record)
    const json = await this.#parts.outputs.readJson(queue, id, output)
    if (json === undefined) throw new Error(`The output of job ${id} is no longer kept`)
    return { json, ...output.cut === undefined ? {} : { cut: output.cut } }
  }

  /** The JSON of the output as an answer carries it: truncated when it is long. */
  async shownOutput (id: string, { queue, record }: StepOutput): Promise<string> {
    return await this.#parts.outputs.readJsonForModel(queue, id, await parsed(record))
  }

  /** Cancels every step that has not ended. */
  async cancel ({ queue, id }: ParentJob): Promise<void> {
    await this.#parts.canceller.cancelSteps(queue, id)
  }

  /** Which attempt it is, over all runs that operators wanted. */
  async #attemptOf ({ queue, id, attempt }: ParentJob): Promise<string> {
    return `${await this.#parts.redis.hget(jobKey(queue, id), rerunsField) ?? '0'}.${attempt}`
  }
}

/** In a turn of the event loop of its own. */
async function parsed (record: string): Promise<OutputRecord> {
  await turn()
  return decodeOutput(record)
}

function fieldOf (attempt: string, step: string): string {
  return `step:${attempt}:${step}`
}
