import { HttpError, type CallError, type OutputRecord } from '@toolyard/contract'
import type { JobCanceller, JobReader, JobWatch } from '@toolyard/queue'
import { jobIdPattern, RedisUnavailableError } from '@toolyard/store'
import { ownerOfKey, scopeOf, type Principal } from '../../access/principal.ts'
import { failed, held, pending, settled, type Call, type CallAnswer, type JobReading, type ReadValue } from './call-answer.ts'
import { JobWaits } from './job-wait.ts'
import type { KeptOutputs } from '../../outputs/kept-outputs.ts'
import type { ToolCatalog } from '../../catalog/tool-catalog.ts'
import type { ToolQuery } from '../../catalog/search/tool-search.ts'
import { providerSchema, type Tool } from '@toolyard/manifests'
import type { JobToolCall, ServiceCall } from '../service-call.ts'

/*
 * The built-in tools `job_result`, `job_cancel`, `output_read` and `output_search`. They are answered here and make no job:
 * a job that waits for another
 * one would take a place of a worker, and with all places taken by such nothing would go on.
 */

/** Who asks, and how long it may take. */
export interface Asker extends JobReading {
  principal: Principal
  /** The session that the request names: then no job of another one is there. */
  session: string | undefined
  /** When the request is answered, by `performance.now()`; 0 for one that doesn't wait. */
  deadline: number
  /** UTF-16 units that the JSON of an answer may have. */
  room: number
  /** Ends the waiting. */
  abandoned: AbortSignal
  /** Gets the job that is waited for. */
  onFound?: ((queue: string, jobId: string) => void) | undefined
}

export interface JobToolsParts {
  jobs: JobReader
  watch: JobWatch
  canceller: JobCanceller
  kept: KeptOutputs
  catalog: ToolCatalog
}

/** The JSON around found tools. */
const searchChars = 30

/** Answers calls that ask for other jobs. */
export class JobTools {
  readonly #parts: JobToolsParts
  readonly #waits: JobWaits

  constructor (parts: JobToolsParts) {
    this.#parts = parts
    this.#waits = new JobWaits(parts)
  }

  /** The answer; a job that the key may not see is one that there isn't. */
  async answer (call: Call, ask: ServiceCall, asker: Asker): Promise<CallAnswer> {
    try {
      if (ask.action === 'search') return succeeded(undefined, await asker.read('', '', { kind: 'inline', value: undefined, text: await this.#search(ask.search, asker) }))
      const queue = await this.#queueOf(ask.jobId, asker)
      if (queue === undefined) return failed(unknownJob(ask.jobId))
      switch (ask.action) {
        case 'job_cancel': return await this.#cancel(ask.jobId, queue, asker)
        case 'job_result': return await this.#result(call, ask, queue, asker)
        case 'output': return await this.#output(ask, queue, asker)
      }
    } catch (error) {
      const isForNow = error instanceof RedisUnavailableError || (error instanceof HttpError && error.code === 'UNAVAILABLE')
      if (isForNow) return failed({ code: 'INTERNAL', message: `${error.message}; ask again` })
      throw error
    }
  }

  /** The JSON of the tools that the key may call and that fit the words, as far as there is room. The best one is cut where it must be. */
  async #search (query: ToolQuery, { principal, room, abandoned }: Asker): Promise<string> {
    const { catalog } = this.#parts
    return await catalog.inTurn(principal, abandoned, async () => {
      const found = await catalog.publication(principal).search.find(query)
      const texts: string[] = []
      let left = room - searchChars
      for (const tool of found) {
        const text = JSON.stringify(foundTool(tool))
        if (text.length > left && texts.length > 0) break
        texts.push(text.length > left ? cutTool(tool, text.length, left) : text)
        left -= text.length + 1
      }
      return `{"tools":[${texts.join()}],"count":${texts.length}}`
    })
  }

  /** The queue of a job that may be asked for: what the key may see, in the session that it works in. */
  async #queueOf (jobId: string, { principal, session }: Asker): Promise<string | undefined> {
    return jobIdPattern.test(jobId) ? await this.#parts.jobs.queueOf(jobId, { ...scopeOf(principal), session }) : undefined
  }

  async #result (
    call: Call, { jobId, waitMs }: Extract<JobToolCall, { action: 'job_result' }>, queue: string, asker: Asker
  ): Promise<CallAnswer> {
    asker.onFound?.(queue, jobId)
    const mostMs = Math.min(waitMs, asker.deadline - performance.now())
    const { abandoned, principal } = asker
    const settlement = await this.#waits.settlement({ queue, jobId }, { waitMs: mostMs, owner: ownerOfKey(principal), abandoned })
    if (settlement === 'missing') return failed(unknownJob(jobId))
    if (settlement === undefined && await this.#parts.jobs.isHeld(queue, jobId)) return held(call, jobId, undefined, asker.hint)
    if (settlement === undefined) return pending(jobId, `Job ${jobId} still goes on${asker.hint}`)
    return await settled(call, queue, jobId, settlement, asker)
  }

  /** An output is read in parts that fit into an answer, so that none is cut again. */
  async #output (
    { jobId, ask }: Extract<JobToolCall, { action: 'output' }>, queue: string,
    { principal, read, room, abandoned }: Asker
  ): Promise<CallAnswer> {
    const settlement = await this.#parts.jobs.settlement(queue, jobId)
    if (settlement === 'missing') return failed(unknownJob(jobId))
    const answer = await this.#parts.kept.ask(ask, { owner: ownerOfKey(principal), queue, jobId, settlement, room, abandoned })
    if (answer.kind === 'refused') return failed(answer.error)
    return succeeded(jobId, await read(queue, jobId, { kind: 'inline', value: undefined, text: answer.json }))
  }

  async #cancel (jobId: string, queue: string, { read }: Asker): Promise<CallAnswer> {
    const result = await this.#parts.canceller.cancel(queue, jobId)
    const settlement = result === 'missing' ? result : await this.#parts.jobs.settlement(queue, jobId)
    if (settlement === 'missing') return failed(unknownJob(jobId))
    const status = result === 'cancelled' ? 'cancelled' : settlement?.ok === true ? 'succeeded' : 'failed'
    const output: OutputRecord = { kind: 'inline', value: { job_id: jobId, status, cancelled: result === 'cancelled' } }
    return succeeded(jobId, await read(queue, jobId, output))
  }
}

function succeeded (jobId: string | undefined, { value: output, notice }: ReadValue): CallAnswer {
  return { kind: 'succeeded', jobId, output, notice }
}

/** A found tool, with a schema that providers take. */
function foundTool (tool: Tool): object {
  const { schema: parameters } = providerSchema(tool.parameters, 'chat')
  return { name: tool.name, ...tool.namespace !== undefined && { namespace: tool.namespace }, description: tool.description, parameters }
}

/** A found tool that is longer than an answer: without its parameters, and with as much of its description as fits. */
function cutTool ({ name, namespace, description }: Tool, length: number, left: number): string {
  const note = `cut: all of it has ${length} characters; ask with a larger max_output_chars, or read it in GET /v1/agent-tools`
  for (let kept = left; ; kept = Math.floor(kept / 2)) {
    const text = JSON.stringify({ name, ...namespace !== undefined && { namespace }, description: description.slice(0, kept).replace(/[\ud800-\udbff]$/, ''), note })
    if (text.length <= left || kept === 0) return text
  }
}

function unknownJob (jobId: string): CallError {
  const message = `there is no job '${jobId}' here: it was never made, belongs to somebody else, or is no longer kept`
  return { code: 'INVALID_ARGUMENTS', message: `job_id: ${message}`, details: { issues: [{ path: '/job_id', message }] } }
}
