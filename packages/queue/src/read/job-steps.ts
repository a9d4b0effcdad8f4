import type { JobStep } from '@toolyard/contract'
import { isRecord } from '@toolyard/contract/terms'
import { approvalField, isHeld } from '../record/approval.ts'
import { askedField, decodeAsked } from '../record/question.ts'
import { isoTime } from '../record/job-times.ts'
import { isCancelled } from '../record/cancellation.ts'
import { type Redis, fromRedis, isTexts, jobKey, pipelined, readStored, whileAvailable } from '@toolyard/store'

/** The parts of a workflow's plan that are shown; the executor of workflows writes it. */
interface Plan {
  title: string
  steps: Array<Pick<JobStep, 'name' | 'tool' | 'type' | 'queue' | 'needs'>>
}

function isPlan (value: unknown): value is Plan {
  if (!isRecord(value) || typeof value['title'] !== 'string' || !Array.isArray(value['steps'])) return false
  return value['steps'].every((step: unknown) => isRecord(step) && isTexts(step['needs']) && isTexts([step['name'], step['tool'], step['type'], step['queue']]))
}

export interface FoundSteps {
  workflow: string | null
  steps: JobStep[]
}

type StepTimes = 'created_at' | 'started_at' | 'finished_at' | 'ran_ms'

const planPrefix = 'plan:'

/**
 * Reads the steps of a workflow's last run, with what has become of them.
 *
 * @throws RedisUnavailableError
 */
export async function readSteps (redis: Redis, queue: string, jobId: string): Promise<FoundSteps> {
  const key = jobKey(queue, jobId)
  const fields = await whileAvailable(redis.hkeys(key))
  const attempts = fields.filter(field => field.startsWith(planPrefix)).map(field => field.slice(planPrefix.length))
  const [attempt] = attempts.sort((a, b) => order(b) - order(a))
  const text = attempt === undefined ? null : await whileAvailable(redis.hget(key, planPrefix + attempt))
  if (attempt === undefined || text === null) return { workflow: null, steps: [] }
  const { title, steps } = readStored('the plan of a workflow', text, isPlan)
  const ids = await whileAvailable(redis.hmget(key, ...steps.map(({ name }) => `step:${attempt}:${name}`)))
  const places = steps.map((step, place) => ({ queue: step.queue, id: ids[place] ?? '' }))
  const replies = await pipelined(redis, places, place => place.queue, (pipeline, { queue, id }) => {
    pipeline.hmget(jobKey(queue, id), 'timestamp', 'processedOn', 'finishedOn', 'failedReason', 'opts', approvalField, askedField)
    pipeline.hexists(jobKey(queue, id), 'returnvalue')
  })
  return {
    workflow: title,
    steps: steps.map(({ name, tool, type, queue, needs }, place) => {
      const reply = replies[place]
      if (reply === undefined || reply instanceof Error) throw reply ?? new Error('Redis gave no reply')
      const [record, hasOutput] = fromRedis<[Array<string | null>, number]>(reply)
      return { name, tool, type, queue, needs, job_id: places[place]?.id === '' ? null : places[place]?.id ?? null, ...stateOf(record, hasOutput === 1) }
    })
  }
}

function stateOf ([timestamp, begun, ended, reason, options, approval, asked]: Array<string | null>, hasOutput: boolean): Pick<JobStep, 'status' | StepTimes> {
  if (timestamp == null) return { status: 'waiting', created_at: null, started_at: null, finished_at: null, ran_ms: null }
  const created = { created_at: isoTime(Number(timestamp)) }
  if (ended == null) {
    const waits = { ...created, started_at: null, finished_at: null, ran_ms: null }
    if (isHeld(options, approval)) return { status: 'held', ...waits }
    if (decodeAsked(asked)?.state === 'asked') return { status: 'input_required', ...waits }
    return begun == null ? { status: 'queued', ...waits } : { status: 'running', ...waits, started_at: isoTime(Number(begun)) }
  }
  return {
    status: hasOutput ? 'succeeded' : isCancelled(reason ?? null) ? 'cancelled' : 'failed',
    ...created,
    started_at: begun == null ? null : isoTime(Number(begun)),
    finished_at: isoTime(Number(ended)),
    ran_ms: begun == null ? null : Math.max(0, Number(ended) - Number(begun))
  }
}

/** Attempts are named by how often an operator ran the job again, and how many runs have failed since. */
function order (attempt: string): number {
  const [reruns = 0, failed = 0] = attempt.split('.').map(Number)
  return reruns * 1_000 + failed
}
