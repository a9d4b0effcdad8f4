import { isRecord, limits } from '@toolyard/contract'
import { onAbort } from '@toolyard/runtime'
import type { ReadJob } from '@toolyard/queue'
import type { InputRequiredResult, ServerContext } from '@modelcontextprotocol/server'
import { waitUntil } from '../../invocation/batch/job-wait.ts'
import { disconnected } from '../../plugins/abandoned.ts'
import { findJob } from '../../routes/jobs/found-job.ts'
import { formsOf, noForms, type ClientForms } from '../asking/client-forms.ts'
import { elicit, type AskedClient, type Elicitation } from '../asking/elicit.ts'
import type { PersonRequest } from '../asking/forms.ts'
import { nameOf, pauseOf, requestOf, type Pause } from '../asking/pause.ts'
import { askedOf, handOn, resumedBy } from '../asking/responses.ts'
import type { Exchange } from './exchange.ts'
import { isOver } from './tasks.ts'
import type { McpParts } from './mcp-parts.ts'

/** A call whose job waits for a person, or did. */
export interface GoingOn {
  exchange: Exchange
  parts: McpParts
  abandoned: AbortSignal
  forms: ClientForms
  /** One of 2025, which is asked while its call is open; others are asked by the answer to it. */
  client: AskedClient | undefined
  /** What the job waited for when the client was asked. */
  resumed: { jobId: string, mark: string } | undefined
  /** What the client brings along. */
  responses: unknown
}

/** What a call has come to: its client has to do something, or it is the job as it is. */
export type GoneOn = { kind: 'asked', result: InputRequiredResult } | { kind: 'job', job: ReadJob }

/** @throws ProtocolError for a `requestState` that this service has not given out. */
export function goingOn (context: ServerContext, exchange: Exchange, parts: McpParts, abandoned: AbortSignal): GoingOn {
  const { envelope, id } = context.mcpReq
  const client = envelope === undefined ? askedClient(exchange, parts) : undefined
  const forms = envelope !== undefined ? formsOf(context) : client === undefined ? noForms : exchange.forms
  return { exchange, parts, abandoned, forms, client, resumed: resumedBy(context), responses: exchange.written.responsesOf(id) }
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
  const { exchange, parts, client, abandoned } = going
  const responses = isRecord(going.responses) ? { ...going.responses } : {}
  let job = first
  let fault: string | undefined
  for (let round = 0; round < mostAsked && !abandoned.aborted && !isOver(job); round++) {
    const { id, queue, tool: name } = job.view
    const pause = pauseOf(job.view)
    let page: Elicitation | undefined
    if (pause !== undefined) {
      const about = { tool: name, forms: going.forms, approvalUrl: exchange.approvalUrl(id) }
      const request = requestOf(pause, about, fault)
      if (request === undefined) break
      const asked = (request: PersonRequest): GoneOn => ({ kind: 'asked', result: askedOf(id, pause, request) })
      let response: unknown
      if (client === undefined) {
        // The client answers what the job asked before: the job asks something else by now.
        if (round === 0 && going.resumed !== undefined && going.resumed.mark !== pause.mark) return asked(request)
        response = responses[nameOf(pause)]
        delete responses[nameOf(pause)]
        if (response === undefined) return asked(request)
      } else {
        page = elicit(client, request)
        response = await answered(page, job, pause, going)
        if (response === null) break
        if (response === undefined) {
          job = await findJob(parts.jobs, id, exchange.principal)
          continue
        }
      }
      if (pause.kind === 'held' && !(isRecord(response) && response['action'] === 'accept')) break
      const said = pause.kind === 'held' ? undefined : await handOn(job, pause.question, response, parts.answerer)
      if (said?.kind === 'again') {
        if (client === undefined) return asked(requestOf(pause, about, said.fault) ?? request)
        fault = said.fault
        continue
      }
      if (said?.kind === 'declined') await parts.canceller.cancel(queue, id)
    }
    fault = undefined
    job = await nextOf(job, pause?.mark, going)
    await page?.complete()
  }
  return { kind: 'job', job: await left(job, going) }
}

/** What a person says by a client of 2025; undefined when the job waits for that no longer, null where nobody can be asked. */
async function answered (
  asking: Elicitation, { view: { id: jobId, queue } }: ReadJob, { mark }: Pause, { parts, abandoned }: GoingOn
): Promise<unknown> {
  const stop = new AbortController()
  const off = onAbort(abandoned, () => { stop.abort() })
  const passed = waitUntil(parts.watch, { queue, jobId }, async () => {
    const now = await parts.jobs.read(queue, jobId)
    return now !== undefined && pauseOf(now.view)?.mark !== mark ? true : undefined
  }, { waitMs, abandoned: stop.signal })
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

/** The job when it has ended, or waits for a person for something else; as it is when nobody waits for it any more. */
async function nextOf (
  { view: { id: jobId, queue } }: ReadJob, mark: string | undefined, { exchange, parts, abandoned }: GoingOn
): Promise<ReadJob> {
  const next = await waitUntil(parts.watch, { queue, jobId }, async () => {
    const now = await parts.jobs.read(queue, jobId)
    if (now === undefined) return undefined
    const pause = pauseOf(now.view)
    return isOver(now) || (pause !== undefined && pause.mark !== mark) ? now : undefined
  }, { waitMs, abandoned })
  return next ?? await findJob(parts.jobs, jobId, exchange.principal)
}

/** A client that has left has cancelled its call. One that is held costs nothing, and somebody may be looking at it. */
async function left (job: ReadJob, { exchange, parts, abandoned }: GoingOn): Promise<ReadJob> {
  const { id, queue } = job.view
  if (!abandoned.aborted || abandoned.reason !== disconnected) return job
  const now = await findJob(parts.jobs, id, exchange.principal)
  if (now.view.status !== 'held' && !isOver(now)) await parts.canceller.cancel(queue, id)
  return now
}
