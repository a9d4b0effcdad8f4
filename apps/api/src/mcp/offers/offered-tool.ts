import { HttpError, limits, readWhole } from '@toolyard/contract'
import { ProtocolError, ProtocolErrorCode, type InputRequiredResult, type ServerContext } from '@modelcontextprotocol/server'
import { withText, type ToolAnswer } from '../../invocation/batch/tool-invoker.ts'
import { findWaited } from '../../routes/jobs/found-job.ts'
import { callOrigin, placeOfCall } from '../call/call-meta.ts'
import { isTooLarge } from '../../outputs/shown-images.ts'
import type { Exchange } from '../call/exchange.ts'
import { goingOn, goOn, type GoneOn } from '../call/going-on.ts'
import type { McpParts } from '../call/mcp-parts.ts'
import { answerOfJob, asksClient, bytesOf } from '../call/tasks.ts'
import { abandonment } from '../call/tool-call.ts'

/** How long what isn't a call of a tool is waited for, in milliseconds. */
const waitMs = limits.waitMs.max

/** A tool's output, which takes its time to read, or a question to the client before it. */
export type Offered = { kind: 'output', read: () => unknown } | { kind: 'asked', result: InputRequiredResult }

/** Runs a tool for a request that isn't a call of it: it reads a resource, or gets a prompt. */
export class OfferedTool {
  readonly #context: ServerContext
  readonly #exchange: Exchange
  readonly #parts: McpParts

  constructor (context: ServerContext, exchange: Exchange, parts: McpParts) {
    this.#context = context
    this.#exchange = exchange
    this.#parts = parts
  }

  /** Makes an answer, or a part of one: any number of requests may come at once. */
  async inTurn<T> (make: () => T): Promise<T> {
    return await this.#parts.catalog.inTurn(this.#exchange.principal, this.#exchange.gone, make)
  }

  /** The output of a tool that asks nothing. */
  async output (name: string, args: Record<string, unknown>): Promise<unknown> {
    const offered = await this.run(name, args)
    return offered.kind === 'output' ? await this.inTurn(offered.read) : undefined
  }

  /** @throws HttpError `FORBIDDEN` for a key that may not run tools; ProtocolError with the failure of the tool. */
  async run (name: string, args: Record<string, unknown>): Promise<Offered> {
    const [context, exchange, parts] = [this.#context, this.#exchange, this.#parts]
    const { principal } = exchange
    if (principal.role !== 'admin') throw new HttpError('FORBIDDEN', 'This operation requires an admin API key.')
    const place = placeOfCall(context, exchange.place)
    const { abandoned, close } = abandonment(context, exchange, parts)
    const offered = (gone: GoneOn): Offered => {
      if (gone.kind === 'asked') return gone
      exchange.room.take(bytesOf(gone.job.result))
      const answer = answerOfJob(gone.job, exchange, parts)
      return { kind: 'output', read: () => outputOf(answer) }
    }
    try {
      const going = goingOn(context, exchange, parts, abandoned)
      if (going.resumed !== undefined) {
        const job = await findWaited(parts.jobs, going.resumed.jobId, principal)
        if (job.view.tool !== name) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'requestState is that of another request')
        return offered(await goOn(job, going))
      }
      const answer = withText(await parts.invoker.invoke({ name, arguments: args, waitMs, ...place, onDisconnect: 'cancel' }, {
        principal, idempotencyKey: undefined, origin: callOrigin(context, exchange), abandoned, room: exchange.room
      }))
      if (answer.kind === 'pending' && answer.code !== 'TIMEOUT') {
        const job = await findWaited(parts.jobs, answer.jobId, principal)
        if (asksClient(job, going.forms, exchange)) return offered(await goOn(job, going))
      }
      return { kind: 'output', read: () => outputOf(answer) }
    } finally {
      close()
    }
  }
}

/** @throws ProtocolError for a call without an output. */
function outputOf (answer: ToolAnswer<string>): unknown {
  const job = answer.jobId === undefined ? {} : { job_id: answer.jobId }
  if (answer.kind === 'pending') {
    const message = answer.code === 'TIMEOUT' ? `It takes longer than ${waitMs / 1_000} s` : answer.message
    throw new ProtocolError(ProtocolErrorCode.InternalError, message, { code: answer.code, ...job })
  }
  if (answer.kind === 'failed') {
    const { code, message, details } = answer.error
    throw new ProtocolError(code === 'INVALID_ARGUMENTS' ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError, message, { code, ...details !== undefined && { details }, ...job })
  }
  if (answer.cut !== undefined) throw new ProtocolError(ProtocolErrorCode.InternalError, `It is larger than the ${answer.cut.storedBytes} bytes that are kept`, { code: 'OUTPUT_INVALID', ...job })
  return isTooLarge(answer.json) ? answer.json : readWhole(answer.json)
}
