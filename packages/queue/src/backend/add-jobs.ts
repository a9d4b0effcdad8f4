import type { RedisQueueBackend } from 'bullmq'
import { asError } from '@toolyard/contract/terms'
import { createdKey, type GatheredCalls, type ScriptCall, type ScriptRun, type Redis, type Replicas, required } from '@toolyard/store'
import { heldKey } from '../record/approval.ts'
import { addKeys, jobScripts } from './scripts/job-scripts.ts'
import { addPlainScript } from './scripts/plain-scripts.ts'

/** Jobs of a request with less than so many characters are added together with those of other requests. */
const gatheredChars = 16_384

export interface AddedJob {
  id: string
  /** A plain one is due at once, and waits for no other job; else BullMQ's script that adds it. */
  kind: 'plain' | keyof typeof addKeys
  name: string
  /** JSON, as are its options. */
  data: string
  opts: string
  timestamp: number
  priority: number
  /** For the index of the queue, one or two: see `JobIndex`. */
  entries: readonly string[]
  /** What lists show of a job that waits for an approval, whose index gets its entries too; else nothing. */
  shown: string
  /** For so many seconds no other job with this id is made, even when this one is gone; 0: no such bound. */
  idempotencySec: number
  /** It is a step: what BullMQ keeps of its parent, as JSON; the parent's key, and the field there that gets the id. */
  parent?: string
  step?: { key: string, field: string }
}

/** Another run of the workflow has made the job of a step. */
export class StepMadeError extends Error {
  override readonly name = 'StepMadeError'
  /** The id of the step's job. */
  readonly id: string

  constructor (id: string) {
    super(`The step has the job ${id}`)
    this.id = id
  }
}

/** A job that was to be made once was made, and is no longer there. */
export class JobGoneError extends Error {
  override readonly name = 'JobGoneError'
}

interface Adder extends Pick<RedisQueueBackend, 'toKey' | 'finishedErrors'> {
  redis: Redis
}

interface Adding {
  /** The queue's public name. */
  queue: string
  /** Adds plain jobs together with those of other requests; and the arguments that its script gets in all calls. */
  adds: GatheredCalls
  addsShared: ScriptCall
  /** Those that must have the jobs. */
  replicas: Replicas | undefined
}

type AddCall = ScriptCall & { id: string }
type AddRun = ScriptRun & { calls: readonly AddCall[] }

/** See `JobBackend.addAll`. */
export async function addJobs (
  backend: Adder, jobs: readonly AddedJob[], { queue, adds, addsShared, replicas }: Adding
): Promise<Map<string, Error>> {
  const { redis } = backend
  const keyOf = (part: string): string => backend.toKey(part)
  const plain: AddCall[] = []
  const runs: AddRun[] = []
  for (const { id, kind, name, data, opts, timestamp, priority, parent, entries, shown, idempotencySec, step } of jobs) {
    const [entry = '', tenantEntry = ''] = entries
    const once = idempotencySec === 0 ? '' : idempotencySec
    if (kind === 'plain') {
      plain.push({ id, keys: [], args: [id, name, data, opts, timestamp, priority, entry, once, tenantEntry] })
      continue
    }
    const absent = keyOf('limiter')
    const call: ScriptCall = jobScripts[kind].call(
      addKeys[kind].map(keyOf), [createdKey(queue), keyOf(id), keyOf('meta'), absent, heldKey(queue), step?.key ?? absent],
      [
        id, entry, once, tenantEntry, shown, step?.field ?? '', keyOf(''), name, data, opts, timestamp,
        step?.key ?? '', parent ?? ''
      ]
    )
    runs.push({ script: jobScripts[kind].script, calls: [Object.assign(call, { id })] })
  }
  // Those of others would wait for a long one.
  const areGathered = jobs.reduce((sum, { kind, data }) => kind === 'plain' ? sum + data.length : sum, 0) < gatheredChars
  if (plain.length > 0) runs.unshift({ script: addPlainScript, calls: plain, shared: addsShared })
  const answers = replicas === undefined || replicas.needed === 0
    ? await Promise.all(runs.map(async ({ script, calls, shared }) => {
        const replies = script === addPlainScript && areGathered ? adds.replies(calls) : script.run(redis, calls, shared)
        // The results of one command count, even when another one fails.
        return await replies.catch((error: unknown) => calls.map(() => asError(error)))
      }))
    : await replicas.run(runs)
  const refused = new Map<string, Error>()
  for (const [at, { calls }] of runs.entries()) {
    for (const [place, reply] of answers[at]?.entries() ?? []) {
      const { id } = required(calls[place], 'the call of a reply')
      if (reply instanceof Error) refused.set(id, reply)
      else if (typeof reply === 'string' && reply !== id) refused.set(id, new StepMadeError(reply))
      else if (reply === 0) refused.set(id, new JobGoneError(`Job ${id} was made before, and is no longer kept`))
      else if (typeof reply === 'number' && reply < 0) refused.set(id, backend.finishedErrors({ code: reply, jobId: id, command: 'addJob' }))
    }
  }
  return refused
}
