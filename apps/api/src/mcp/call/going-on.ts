import { isRecord, limits } from '@toolyard/contract'
import { onAbort } from '@toolyard/runtime'
import type { ReadJob } from '@toolyard/queue'
import type { InputRequiredResult, ServerContext } from '@modelcontextprotocol/server'
import { ownerOfKey } from '../../access/principal.ts'
import { waitUntil } from '../../invocation/batch/job-wait.ts'
import { disconnected } from '../../plugins/abandoned.ts'
import { findJob, findWaited } from '../../routes/jobs/found-job.ts'
import { formsOf, noForms, type ClientForms } from '../asking/client-forms.ts'
import { elicit, type AskedClient, type Elicitation } from '../asking/elicit.ts'
import { marksOf, pauseOf, requestsOf, type OpenRequest, type Pause } from '../asking/pause.ts'
import { askedOf, handOn, resumedBy } from '../asking/responses.ts'
import type { Exchange } from './exchange.ts'
import { isOver } from './tasks.ts'
import type { McpParts } from './mcp-parts.ts'

/** A call whose job waits for an answer or an approval, or did. */
export interface GoingOn {
  exchange: Exchange
  parts: McpParts
  abandoned: AbortSignal
  forms: ClientForms
  /** One of 2025, which is asked while its call is open; others are asked by the answer to it. */
  client: AskedClient | undefined
  /** The job's wait when the client was asked. */
  resumed: { jobId: string, marks: string[] } | undefined
  /** From the client. */
  responses: unknown
  /** How long its job is waited for after an answer, in milliseconds. */
  waitMs: number
}

/** A call's client has to do something, or it is the job as it is. */
export type GoneOn = { kind: 'asked', result: InputRequiredResult } | { kind: 'job', job: ReadJob }

/** @throws ProtocolError for a `requestState` that this service has not given out. */
export function goingOn (context: ServerContext, exchange: Exchange, parts: McpParts, abandoned: AbortSignal): GoingOn {
  const { envelope, id } = context.mcpReq
  const client = envelope === undefined ? askedClient(exchange, parts) : undefined
  const forms = envelope !== undefined ? formsOf(context) : client === undefined ? noForms : exchange.forms
  return { exchange, parts, abandoned, forms, client, resumed: resumedBy(context), responses: exchange.written.responsesOf(id), waitMs }
}

/** A client of 2025 that can be asked while its call is open: it has a session and reads a stream. */
function askedClient ({ session, mayStream, send }: Exchange, { questions }: McpParts): AskedClient | undefined {
  return session === undefined || !mayStream || send === undefined ? undefined : { session, open: questions, send }
}

/** A call is waited for as long as any tool may take. The client ends a wait that is too long for it. */
export const waitMs = limits.toolTimeoutSec.max * 1_000
/** How often one call of a client of 2025 asks: some clients answer by themselves, and always the same. */
const mostAsked = 30

/**
 * Goes on with a call until it has ended, or its client has to do something. Who opens the page of a held call has approved
 * nothing, and who doesn't want to has denied nothing.
 */
export async function goOn (first: ReadJob, going: GoingOn): Promise<GoneOn> {
  const { exchange, parts, client, abandoned, resumed } = going
  const responses = isRecord(going.responses) ? { ...going.responses } : {}
  const faults = new Map<number, string>()
  let job = first
  for (let round = 0; round < mostAsked && !abandoned.aborted && !isOver(job); round++) {
    const { id, tool } = job.view
    const pause = pauseOf(job.view)
    let page: Elicitation | undefined
    if (pause !== undefined) {
      const requests = requestsOf(pause, { tool, forms: going.forms, approvalUrl: exchange.approvalUrl(id) }, faults)
      const [next] = requests
      if (next === undefined) break
      const given: Given[] = []
      if (client === undefined) {
        for (const request of requests) {
          // The client may answer what the job asked before, by the same name.
          if (!Object.hasOwn(responses, request.name) || resumed?.marks.includes(request.mark) === false) continue
          given.push({ ...request, response: responses[request.name] })
          Reflect.deleteProperty(responses, request.name)
        }
        if (given.length === 0) return { kind: 'asked', result: askedOf(id, pause, requests) }
      } else {
        page = elicit(client, next.request)
        const response = await answered(page, job, next, going)
        if (response === null) break
        if (response === undefined) {
          job = await findWaited(parts.jobs, id, exchange.principal)
          continue
        }
        given.push({ ...next, response })
      }
      const isAccepted = ({ response }: Given): boolean => isRecord(response) && response['action'] === 'accept'
      if (pause.kind === 'held' && !given.some(isAccepted)) break
      if (pause.kind === 'asks' && !await areHandedOn(job, given, faults, parts)) continue
    }
    const next = await nextOf(job, pause, going)
    await page?.complete()
    job = next ?? await findWaited(parts.jobs, id, exchange.principal)
    if (next === undefined) break
  }
  return { kind: 'job', job: await left(job, going) }
}

/** A client's answer to one request. */
interface Given extends OpenRequest {
  response: unknown
}

/** Tells whether the job has got any answer; the faults of the others are noted. */
async function areHandedOn (job: ReadJob, given: readonly Given[], faults: Map<number, string>, parts: McpParts): Promise<boolean> {
  let hasChanged = false
  for (const { question, response } of given) {
    const said = question && await handOn(job, question, response, parts.answerer)
    if (question !== undefined && said?.kind === 'again') faults.set(question.number, said.fault)
    else hasChanged = true
    if (said?.kind === 'declined') await parts.canceller.cancel(job.view.queue, job.view.id)
  }
  return hasChanged
}

/** An answer of a client of 2025; undefined when the job waits for that no longer, null where nobody can be asked. */
async function answered (
  asking: Elicitation, { view: { id: jobId, queue } }: ReadJob, { mark }: OpenRequest, { exchange, parts, abandoned }: GoingOn
): Promise<unknown> {
  const stop = new AbortController()
  const off = onAbort(abandoned, () => { stop.abort() })
  const passed = waitUntil(parts.watch, { queue, jobId }, async () => {
    const stage = await parts.jobs.stage(queue, jobId)
    return stage.kind === 'missing' || marksOf(stage).includes(mark) ? undefined : true
  }, { waitMs, owner: ownerOfKey(exchange.principal), abandoned: stop.signal })
  try {
    const first = await Promise.race([asking.said, passed.then(() => undefined)])
    if (first === undefined && !abandoned.aborted) await asking.withdraw()
    return first
  } finally {
    off()
    stop.abort()
    asking.close()
  }
}

/** The job when it has ended, or waits for something else; undefined when nobody waits for it any more. */
async function nextOf (
  { view: { id: jobId, queue } }: ReadJob, before: Pause | undefined, { exchange, parts, abandoned, waitMs }: GoingOn
): Promise<ReadJob | undefined> {
  const isPassed = await waitUntil(parts.watch, { queue, jobId }, async () => {
    const stage = await parts.jobs.stage(queue, jobId)
    const marks = marksOf(stage)
    return stage.kind === 'over' || (marks.length > 0 && marks.join() !== before?.marks.join()) ? true : undefined
  }, { waitMs, owner: ownerOfKey(exchange.principal), abandoned })
  return isPassed && await findWaited(parts.jobs, jobId, exchange.principal)
}

/** A client that has left has cancelled its call. One that is held costs nothing, and somebody may be looking at it. */
async function left (job: ReadJob, { exchange, parts, abandoned }: GoingOn): Promise<ReadJob> {
  const { id, queue } = job.view
  if (!abandoned.aborted || abandoned.reason !== disconnected) return job
  const now = await findJob(parts.jobs, id, exchange.principal)
  if (now.view.status !== 'held' && !isOver(now)) await parts.canceller.cancel(queue, id)
  return now
}
