import { asError, type CallError, type Settlement } from '@toolyard/contract'
import { isRecord } from '@toolyard/contract/terms'
import { logStart, type JobLogs, type OutputStore } from '@toolyard/queue'
import { OwnerTurns, TurnMissedError } from '@toolyard/runtime'
import { steadyMs, ThreadError, Threads } from '@toolyard/runtime/threads'
import type { ReadArguments } from './read-output.ts'
import type { SearchArguments } from './search-output.ts'
import type { Source } from './kept-text.ts'

export type OutputAsk = { of: 'output' | 'log' } & ({ kind: 'read', args: ReadArguments } | { kind: 'search', args: SearchArguments })

export interface AskedJob {
  /** Who asks: see `ownerOf`. */
  owner: string
  queue: string
  jobId: string
  /** Undefined while it goes on. */
  settlement: Settlement | undefined
  /** UTF-16 units that the JSON of the answer may have. */
  room: number
  abandoned: AbortSignal
}

/** How long a thread has for one answer, and how long the turn of a call may take to come, in milliseconds. */
const most = { ms: 10_000, waitMs: 10_000 }
/** Threads at once: each takes memory and a processor, and the process has others to serve. One owner's searches leave some to others. */
const mostThreads = { all: 4, ofOwner: 2 }
/** Lines of a log that are read at once. */
const linesAtOnce = 500

interface Refused { kind: 'refused', error: CallError }

type KeptAnswer = { kind: 'found', json: string } | Refused

/** Reads and searches what jobs have left, in threads: an expression and a megabyte of JSON take their time. */
export class KeptOutputs {
  readonly #outputs: OutputStore
  readonly #logs: JobLogs
  readonly #turns = new OwnerTurns(mostThreads.all, mostThreads.ofOwner)
  readonly #threads = new Threads(new URL('./thread.js', import.meta.url), new Set(['OutputFault']))

  constructor (outputs: OutputStore, logs: JobLogs) {
    this.#outputs = outputs
    this.#logs = logs
  }

  /** @throws RedisUnavailableError */
  async ask (ask: OutputAsk, job: AskedJob): Promise<KeptAnswer> {
    try {
      return await this.#turns.run(job.owner, async () => await this.#answer(ask, job), { ms: most.waitMs, signal: job.abandoned })
    } catch (error) {
      if (!(error instanceof TurnMissedError)) throw error
      return { kind: 'refused', error: { code: 'INTERNAL', message: 'Too much is asked of outputs at once: ask again, for less at a time' } }
    }
  }

  async #answer ({ of, kind, args }: OutputAsk, job: AskedJob): Promise<KeptAnswer> {
    const found = of === 'log' ? { kind: 'kept' as const, source: { log: await this.#log(job) } } : await this.#output(job)
    if (found.kind === 'refused') return found
    const task = { source: found.source, args, about: { job_id: job.jobId, of, ...of === 'output' && keptOf(job) }, room: job.room }
    try {
      return { kind: 'found', json: await this.#threads.run<string>({ kind, task }, { until: steadyMs() + most.ms, signal: job.abandoned }) }
    } catch (error) {
      if (!(error instanceof ThreadError)) throw error
      return { kind: 'refused', error: faultOf(error) }
    }
  }

  async close (): Promise<void> {
    await this.#threads.close()
  }

  async #output ({ queue, jobId, settlement }: AskedJob): Promise<{ kind: 'kept', source: Source } | Refused> {
    if (settlement === undefined) return refused('job_id', `job '${jobId}' still goes on and has no output yet: ask again when it has ended, or for its log with "of": "log"`)
    if (!settlement.ok) return refused('job_id', `job '${jobId}' failed and has no output: ${settlement.error.code}; its log is there with "of": "log"`)
    const json = await this.#outputs.readPieces(queue, jobId, settlement.output)
    return json === undefined ? refused('job_id', `the output of job '${jobId}' is no longer kept`) : { kind: 'kept', source: { json } }
  }

  async #log ({ queue, jobId }: AskedJob): Promise<string> {
    const lines: string[] = []
    for (let after: string = logStart; ;) {
      const page = await this.#logs.after(queue, jobId, after, linesAtOnce)
      lines.push(...page.map(({ message }) => message))
      const last = page.at(-1)
      if (last === undefined || page.length < linesAtOnce) return lines.join('\n')
      after = last.id
    }
  }
}

/** Who reads to the end of what was kept must not take it for the end of the output. */
function keptOf ({ settlement }: AskedJob): { kept?: string } {
  const cut = settlement?.ok === true ? settlement.output.cut : undefined
  return cut === undefined ? {} : { kept: `the first ${cut.storedBytes} of ${cut.bytes} bytes` }
}

function faultOf (error: ThreadError): CallError {
  if (error.reason !== 'thrown') return { code: 'INTERNAL', message: error.reason === 'time' ? 'This takes too long: ask for a simpler pattern, or for a part' : 'This takes too much memory: ask for a part' }
  const { name, details } = error.thrown
  if (name !== 'OutputFault' || !isRecord(details)) throw asError(error)
  return refused(String(details['path']).slice(1), error.message).error
}

function refused (argument: string, message: string): Refused {
  return { kind: 'refused', error: { code: 'INVALID_ARGUMENTS', message: `${argument}: ${message}`, details: { issues: [{ path: `/${argument}`, message }] } } }
}
