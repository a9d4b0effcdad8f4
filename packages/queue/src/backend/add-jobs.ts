import type { JobJson, ParentKeyOpts } from 'bullmq'
import type { BatchedScript, ScriptCall, ScriptRun } from '../redis/batched-script.ts'
import type { Redis } from '../redis/connection.ts'
import { addKeys, addScripts, type Adding } from './job-scripts.ts'
import { addPlainScript } from './plain-scripts.ts'
import type { Replicas } from '../redis/checks/replicas.ts'

/** A job that is about to be added. */
export interface AddedJob {
  id: string
  /** What the index of the queue gets: see `JobIndex`. */
  entry: string
  /** For how many seconds it is made once, also when it is gone; 0: as often as it is added. */
  onceSec: number
  /** One that is due at once, has a priority, and waits for no other job: its data and options are JSON. Any other is BullMQ's. */
  made: { plain: PlainJob } | OtherJob
}

interface PlainJob {
  name: string
  data: string
  opts: string
  timestamp: number
  priority: number
}

interface OtherJob {
  job: JobJson
  parent: ParentKeyOpts
}

/** What BullMQ sends to add a job; its keys come first. */
export interface AddCommand {
  name: string
  args: Array<string | Buffer>
}

/** A job that was to be made once was made, and is no longer there. */
export class JobGoneError extends Error {
  override readonly name = 'JobGoneError'
}

/** How jobs get into one queue. */
export interface Adder {
  /** What the script of plain jobs gets in all calls. */
  shared: ScriptCall
  /** The key of the queue's index. */
  created: string
  /** Those that must have the jobs. */
  replicas: Replicas | undefined
  keyOf: (id: string) => string
  commandOf: (id: string, made: OtherJob) => Promise<AddCommand>
  /** BullMQ's error for a number that its script answers. */
  errorOf: (code: number, id: string) => Error
}

type AddCall = ScriptCall & { id: string }
type AddRun = ScriptRun & { calls: readonly AddCall[] }

/** See `JobBackend.addAll`. */
export async function addJobs (redis: Redis, jobs: readonly AddedJob[], { shared, created, replicas, keyOf, commandOf, errorOf }: Adder): Promise<Map<string, Error>> {
  const plain: AddCall[] = []
  const others = new Map<Adding, AddCall[]>()
  for (const { id, entry, onceSec, made } of jobs) {
    const once = onceSec === 0 ? '' : onceSec
    if ('plain' in made) {
      const { name, data, opts, timestamp, priority } = made.plain
      plain.push({ id, keys: [], args: [id, name, data, opts, timestamp, priority, entry, once] })
      continue
    }
    const { name, args } = await commandOf(id, made)
    if (!isAdding(name)) throw new Error(`BullMQ adds a job with '${name}'`)
    const keys = addKeys[name]
    const calls = others.get(name) ?? []
    others.set(name, calls)
    calls.push({ id, keys: [...args.slice(0, keys) as string[], created], args: [...args.slice(keys), entry, keyOf(id), once] })
  }
  const runs: AddRun[] = []
  if (plain.length > 0) runs.push({ script: addPlainScript, calls: plain, shared: { ...shared, keys: [...shared.keys, created] } })
  for (const [name, calls] of others) runs.push({ script: scriptOf(name), calls })
  const answers = replicas === undefined || replicas.needed === 0
    ? await Promise.all(runs.map(async ({ script, calls, shared }) => await script.run(redis, calls, shared)))
    : await replicas.run(runs)
  const refused = new Map<string, Error>()
  for (const [at, { calls }] of runs.entries()) {
    for (const [place, reply] of answers[at]?.entries() ?? []) {
      const id = calls[place]?.id ?? ''
      if (reply instanceof Error) refused.set(id, reply)
      else if (reply === 0) refused.set(id, new JobGoneError(`Job ${id} was made before, and is no longer kept`))
      else if (typeof reply === 'number' && reply < 0) refused.set(id, errorOf(reply, id))
    }
  }
  return refused
}

function scriptOf (name: Adding): BatchedScript {
  const script = addScripts.get(name)
  if (script === undefined) throw new Error(`There is no script '${name}'`)
  return script
}

function isAdding (name: string): name is Adding {
  return addScripts.has(name)
}
