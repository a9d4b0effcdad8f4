import type { JobJson, ParentKeyOpts, RedisQueueBackend } from 'bullmq'
import { type GatheredCalls, type ScriptCall, type ScriptRun, type Redis, type Replicas, required } from '@toolyard/store'
import { jobScripts } from './scripts/job-scripts.ts'
import { addPlainScript } from './scripts/plain-scripts.ts'

/** Jobs of a request with less than so many characters are added together with those of other requests. */
const gatheredChars = 16_384

export interface AddedJob {
  id: string
  /** What the index of the queue gets, one or two: see `JobIndex`. */
  entries: readonly string[]
  /** It waits for an approval: the index of those gets the same. */
  isHeld: boolean
  /** For so many seconds no other job with this id is made, even when this one is gone; 0: no such bound. */
  idempotencySec: number
  /** It is a step: the key of its workflow's record, and the field there that gets the id. */
  step?: { key: string, field: string }
  /** One that is due at once, has a priority, and waits for no other job: its data and options are JSON. */
  plain?: PlainJob
  /** As BullMQ makes it. */
  general: () => GeneralJob
}

interface PlainJob {
  name: string
  data: string
  opts: string
  timestamp: number
  priority: number
}

interface GeneralJob {
  job: JobJson
  parent: ParentKeyOpts
}

/** What BullMQ sends to add a job; its keys come first. */
export interface AddCommand {
  name: string
  args: Array<string | Buffer>
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

export interface Adder {
  /** What adds plain jobs together with those of other requests, and what its script gets in all calls. */
  adds: GatheredCalls
  addsShared: () => ScriptCall
  /** The keys of the queue's indexes and its settings. */
  created: string
  held: string
  meta: string
  /** Those that must have the jobs. */
  replicas: Replicas | undefined
  keyOf: (id: string) => string
  commandOf: (id: string, made: GeneralJob) => Promise<AddCommand>
  /** BullMQ's error for a number that its script answers. */
  errorOf: (code: number, id: string) => Error
}

type AddCall = ScriptCall & { id: string }
type AddRun = ScriptRun & { calls: readonly AddCall[] }

/** See `JobBackend.addAll`. */
export async function addJobs (
  redis: Redis, jobs: readonly AddedJob[], { adds, addsShared, created, held, meta, replicas, keyOf, commandOf, errorOf }: Adder
): Promise<Map<string, Error>> {
  const plain: AddCall[] = []
  const runs: AddRun[] = []
  for (const { id, entries: [entry = '', tenantEntry = ''], isHeld, idempotencySec, step, plain: made, general } of jobs) {
    const once = idempotencySec === 0 ? '' : idempotencySec
    if (made !== undefined) {
      const { name, data, opts, timestamp, priority } = made
      plain.push({ id, keys: [], args: [id, name, data, opts, timestamp, priority, entry, once, tenantEntry] })
      continue
    }
    const { name, args } = await commandOf(id, general())
    if (!isAdding(name)) throw new Error(`BullMQ adds a job with '${name}'`)
    const call = {
      id,
      ...jobScripts[name].call(
        args, [created, keyOf(id), meta, keyOf('limiter'), held, step?.key ?? keyOf('limiter')],
        [id, entry, once, tenantEntry, isHeld ? 1 : '', step?.field ?? '']
      )
    }
    runs.push({ script: jobScripts[name].script, calls: [call] })
  }
  // Those of others would wait for a long one.
  const areGathered = jobs.reduce((sum, { plain: { data = '' } = {} }) => sum + data.length, 0) < gatheredChars
  if (plain.length > 0) runs.unshift({ script: addPlainScript, calls: plain, shared: addsShared() })
  const answers = replicas === undefined || replicas.needed === 0
    ? await Promise.all(runs.map(async ({ script, calls, shared }) => (
      script === addPlainScript && areGathered ? await adds.replies(calls) : await script.run(redis, calls, shared)
    )))
    : await replicas.run(runs)
  const refused = new Map<string, Error>()
  for (const [at, { calls }] of runs.entries()) {
    for (const [place, reply] of answers[at]?.entries() ?? []) {
      const { id } = required(calls[place], 'the call of a reply')
      if (reply instanceof Error) refused.set(id, reply)
      else if (typeof reply === 'string' && reply !== id) refused.set(id, new StepMadeError(reply))
      else if (reply === 0) refused.set(id, new JobGoneError(`Job ${id} was made before, and is no longer kept`))
      else if (typeof reply === 'number' && reply < 0) refused.set(id, errorOf(reply, id))
    }
  }
  return refused
}

/** What BullMQ would send to add a job. */
export async function commandOf (backend: RedisQueueBackend, id: string, { job, parent }: GeneralJob): Promise<AddCommand> {
  let command: AddCommand | undefined
  const listening = { runCommand: (name: string, args: AddCommand['args']) => { command = { name: required(name.split(':')[0], 'the name of a command'), args } } }
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- BullMQ uses only `runCommand` of a client here.
  await backend.addJobToTransaction(listening as never, job, id, parent)
  if (command === undefined) throw new Error('BullMQ adds a job without a command')
  return command
}

const adding = ['addPrioritizedJob', 'addDelayedJob', 'addParentJob'] as const

function isAdding (name: string): name is typeof adding[number] {
  return (adding as readonly string[]).includes(name)
}
