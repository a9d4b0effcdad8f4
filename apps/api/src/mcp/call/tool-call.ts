import { firstChars } from '@toolyard/contract/terms'
import { onAbort } from '@toolyard/runtime'
import {
  LOG_LEVEL_META_KEY, ProtocolError, ProtocolErrorCode, type CallToolRequest, type CallToolResult, type InputRequiredResult,
  type ServerContext
} from '@modelcontextprotocol/server'
import { withText } from '../../invocation/batch/tool-invoker.ts'
import { disconnected } from '../../plugins/abandoned.ts'
import { CallNotices } from './call-notices.ts'
import { callOrigin, placeOfCall } from './call-meta.ts'
import { callResult, filesIn } from './call-result.ts'
import type { Exchange } from './exchange.ts'
import { cuttingOf } from './cutting.ts'
import { goingOn, goOn, waitMs, type GoneOn } from './going-on.ts'
import { asksClient, beforeTaskMs, createdTask, isOver, jobResult, knowsTasks } from './tasks.ts'
import type { McpParts } from './mcp-parts.ts'
import { findWaited } from '../../routes/jobs/found-job.ts'

/**
 * Runs a tool for a client. Who closes the connection of a request of 2026 has cancelled it; a client of 2025 says so, and
 * its call goes on when its connection breaks. The address may say otherwise.
 *
 * @throws ProtocolError for a tool that the key doesn't see.
 */
export async function callTool (
  request: CallToolRequest, context: ServerContext, exchange: Exchange, parts: McpParts
): Promise<CallToolResult | InputRequiredResult> {
  const { name, arguments: args = {} } = request.params
  const tool = parts.lists.for(exchange.principal).byName.get(name)
  if (tool === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${firstChars(name, 200)}`)
  const place = placeOfCall(context, exchange.place)
  const becomesTask = knowsTasks(context) && parts.lists.takesLong(name)
  const { abandoned, close } = abandonment(context, exchange, parts)
  const notices = noticesOf(context, exchange, parts)
  try {
    const going = goingOn(context, exchange, parts, abandoned)
    const { resumed, forms } = going
    if (becomesTask) going.waitMs = beforeTaskMs
    const resultOf = async (gone: GoneOn): Promise<CallToolResult | InputRequiredResult> => {
      if (gone.kind === 'asked') return gone.result
      if (becomesTask && !isOver(gone.job)) return createdTask(gone.job, forms, exchange, parts)
      return await jobResult(gone.job, exchange, parts, tool)
    }
    if (resumed !== undefined) {
      const job = await findWaited(parts.jobs, resumed.jobId, exchange.principal)
      if (job.view.tool !== name && !parts.lists.isService(name)) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'requestState is that of another tool')
      notices?.follow(job.view.queue, job.view.id)
      return await resultOf(await goOn(job, going))
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
      room: exchange.room,
      onJobs: ([id]) => { if (id !== undefined) notices?.follow(place.queue, id) },
      onFound: (queue, id) => { notices?.follow(queue, id) }
    }))
    if (answer.kind === 'failed' && answer.cause !== undefined) exchange.log.error({ err: answer.cause }, 'request failed')
    if (answer.kind === 'pending' && answer.code !== 'TIMEOUT') {
      const job = await findWaited(parts.jobs, answer.jobId, exchange.principal)
      if (answer.code === 'HELD' && knowsTasks(context)) return createdTask(job, forms, exchange, parts)
      if (asksClient(job, forms, exchange)) return await resultOf(await goOn(job, going))
    }
    if (answer.kind === 'pending' && becomesTask) {
      return createdTask(await findWaited(parts.jobs, answer.jobId, exchange.principal), forms, exchange, parts)
    }
    const { principal, room } = exchange
    const [images = []] = await parts.images.read([filesIn(answer)], { session: place.session, principal, room })
    const cutting = cuttingOf(exchange, parts.lists)
    return await callResult(answer, tool, { images, written: exchange.written, owner: exchange.owner, cutting })
  } finally {
    await notices?.finish()
    close()
  }
}

/** When a call of a client is given up, and what takes it out of the open calls. */
export function abandonment (context: ServerContext, exchange: Exchange, { calls, ending }: McpParts): {
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

function noticesOf (context: ServerContext, exchange: Exchange, parts: McpParts): CallNotices | undefined {
  const { _meta: meta, envelope, notify } = context.mcpReq
  const asked = envelope === undefined ? exchange.logLevel : (envelope as Record<string, unknown>)[LOG_LEVEL_META_KEY]
  const logLevel = typeof asked === 'string' ? asked : undefined
  const wanted = { progressToken: meta?.progressToken, logLevel }
  if (!exchange.mayStream || (wanted.progressToken === undefined && wanted.logLevel === undefined)) return undefined
  return new CallNotices(parts, exchange, wanted, notify)
}
