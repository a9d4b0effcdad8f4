import { onAbort } from '@toolyard/runtime'
import { limits } from '@toolyard/contract'
import {
  LOG_LEVEL_META_KEY, ProtocolError, ProtocolErrorCode, type CallToolRequest, type CallToolResult, type InputRequiredResult,
  type ServerContext
} from '@modelcontextprotocol/server'
import { withText, type ToolInvoker } from '../../invocation/batch/tool-invoker.ts'
import { disconnected } from '../../plugins/abandoned.ts'
import { CallNotices, type CallNoticesParts } from './call-notices.ts'
import { callOrigin, placeOfCall } from './call-meta.ts'
import { callResult, filesIn } from './call-result.ts'
import type { Exchange } from './exchange.ts'
import { cuttingOf } from './cutting.ts'
import { askedOf, canAsk, handOn, resumedBy } from './questions.ts'
import { beforeTaskMs, createdTask, jobResult, knowsTasks, type TaskParts } from './tasks.ts'
import type { OpenCalls } from './open-calls.ts'
import type { ListedTool, ToolLists } from './tool-list.ts'
import type { ReadJob } from '@toolyard/queue'
import { waitUntil } from '../../invocation/batch/job-wait.ts'
import { findJob } from '../../routes/jobs/found-job.ts'

export interface ToolCallParts extends CallNoticesParts, TaskParts {
  invoker: ToolInvoker
  lists: ToolLists
  calls: OpenCalls
  /** Aborted when requests that still wait must be answered with what is there. */
  ending: AbortSignal
}

/** How long a call is waited for: as long as any tool may take, since the client says by itself when it is tired of waiting. */
const waitMs = limits.toolTimeoutSec.max * 1_000

/**
 * Runs a tool for a client. Who closes the connection of a request of 2026 has cancelled it; a client of 2025 says so, and
 * its call goes on when its connection breaks. The address may say otherwise.
 *
 * @throws ProtocolError for a tool that the key doesn't see.
 */
export async function callTool (
  request: CallToolRequest, context: ServerContext, exchange: Exchange, parts: ToolCallParts
): Promise<CallToolResult | InputRequiredResult> {
  const { name, arguments: args = {} } = request.params
  const tool = parts.lists.for(exchange.principal).byName.get(name)
  if (tool === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name.slice(0, 200)}`)
  const place = placeOfCall(context, exchange.place)
  const becomesTask = knowsTasks(context) && parts.lists.takesLong(name)
  const { abandoned, close } = abandonment(context, exchange, parts)
  const notices = noticesOf(context, exchange, parts)
  try {
    const resumed = resumedBy(context)
    if (resumed !== undefined) {
      const job = await findJob(parts.jobs, resumed.jobId, exchange.principal)
      if (job.view.tool !== name) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'requestState is that of another tool')
      notices?.follow(job.view.queue, job.view.id)
      const isAnswered = job.view.question !== undefined && job.view.question.number !== resumed.number
      return await goOn(job, { context, exchange, parts, abandoned, tool, isAnswered })
    }
    const answer = withText(await parts.invoker.invoke({
      name,
      arguments: exchange.written.argumentsOf(context.mcpReq.id) ?? args,
      waitMs: becomesTask ? beforeTaskMs : waitMs,
      ...place,
      onDisconnect: 'cancel',
      maxOutputChars: exchange.place.maxOutputChars
    }, {
      principal: exchange.principal,
      idempotencyKey: undefined,
      origin: callOrigin(context, exchange),
      abandoned,
      onJobs: ([id]) => { if (id !== undefined) notices?.follow(place.queue, id) },
      onFound: (queue, id) => { notices?.follow(queue, id) }
    }))
    if (answer.kind === 'failed' && answer.cause !== undefined) exchange.log.error({ err: answer.cause }, 'request failed')
    await notices?.finish()
    if (answer.kind === 'pending' && answer.question !== undefined && canAsk(context, answer.question)) {
      // Some bring along at once what they know that the tool will ask.
      if (context.mcpReq.inputResponses?.[answer.question.name] === undefined) return askedOf(answer.jobId, answer.question)
      const job = await findJob(parts.jobs, answer.jobId, exchange.principal)
      return await goOn(job, { context, exchange, parts, abandoned, tool, isAnswered: false })
    }
    if (answer.kind === 'pending' && becomesTask) return await createdTask(answer.jobId, exchange, parts)
    const [images = []] = await parts.images.read([filesIn(answer)], place.session, exchange.principal)
    const cutting = cuttingOf(exchange, parts.lists)
    const hasLinks = exchange.knowsLinks && place.session !== undefined
    return callResult(answer, tool, { hasLinks, images, written: exchange.written, cutting })
  } finally {
    close()
  }
}

interface GoingOn {
  context: ServerContext
  exchange: Exchange
  parts: ToolCallParts
  abandoned: AbortSignal
  tool: ListedTool
  /** The job asks another question by now: what the client brings along was taken before. */
  isAnswered: boolean
}

/** Goes on with a call whose tool has asked something. */
async function goOn (
  job: ReadJob, { context, exchange, parts, abandoned, tool, isAnswered }: GoingOn
): Promise<CallToolResult | InputRequiredResult> {
  const { id, queue, question } = job.view
  if (question !== undefined && (isAnswered || !canAsk(context, question))) return await asks(job, { context, exchange, parts, tool })
  if (question !== undefined) {
    const said = await handOn(job, question, context.mcpReq.inputResponses, parts.answerer)
    if (said.kind === 'again') return askedOf(id, question, said.fault)
    if (said.kind === 'declined') await parts.canceller.cancel(queue, id)
  }
  await waitForPause(parts, job.view, abandoned)
  // An answered call that nobody waits for any more is cancelled as every other; one that waits for a person costs nothing.
  if (abandoned.aborted && abandoned.reason === disconnected && !await parts.jobs.isHeld(queue, id)) await parts.canceller.cancel(queue, id)
  return await asks(await findJob(parts.jobs, id, exchange.principal), { context, exchange, parts, tool })
}

/** Asks what the tool asks now, where the client can be asked; else says what the call has come to. */
async function asks (
  job: ReadJob, { context, exchange, parts, tool }: Pick<GoingOn, 'context' | 'exchange' | 'parts' | 'tool'>
): Promise<CallToolResult | InputRequiredResult> {
  const { id, question } = job.view
  if (question !== undefined && canAsk(context, question)) return askedOf(id, question)
  return await jobResult(job, exchange, parts, tool)
}

/** Waits until a job has ended, asks something or is held. */
async function waitForPause ({ jobs, watch }: ToolCallParts, { queue, id: jobId }: ReadJob['view'], abandoned: AbortSignal): Promise<void> {
  await waitUntil(watch, { queue, jobId }, async () => {
    const settlement = await jobs.settlementOrQuestion(queue, jobId)
    return settlement !== undefined || await jobs.isHeld(queue, jobId) ? true : undefined
  }, { waitMs, abandoned })
}

/** When a call of a client is given up, and what takes it out of the open calls. */
export function abandonment (context: ServerContext, exchange: Exchange, { calls, ending }: ToolCallParts): {
  abandoned: AbortSignal, close: () => void
} {
  const abort = new AbortController()
  const ofRevision = context.mcpReq.envelope === undefined ? 'leave' : 'cancel'
  const onDisconnect = exchange.place.onDisconnect ?? ofRevision
  const leave = (): void => { abort.abort(onDisconnect === 'leave' ? 'left' : disconnected) }
  const end = (): void => { abort.abort('ending') }
  const remove = exchange.session === undefined
    ? () => {}
    : calls.add(exchange.session, context.mcpReq.id, () => {
      abort.abort(disconnected)
      exchange.leave()
    })
  const offs = [onAbort(exchange.gone, leave), onAbort(ending, end)]
  return {
    abandoned: abort.signal,
    close: () => {
      remove()
      for (const off of offs) off()
    }
  }
}

function noticesOf (context: ServerContext, exchange: Exchange, parts: CallNoticesParts): CallNotices | undefined {
  const { _meta: meta, envelope, notify } = context.mcpReq
  const asked = envelope === undefined ? exchange.logLevel : (envelope as Record<string, unknown>)[LOG_LEVEL_META_KEY]
  const logLevel = typeof asked === 'string' ? asked : undefined
  const wanted = { progressToken: meta?.progressToken, logLevel }
  if (!exchange.mayStream || (wanted.progressToken === undefined && wanted.logLevel === undefined)) return undefined
  return new CallNotices(parts, exchange, wanted, notify)
}
