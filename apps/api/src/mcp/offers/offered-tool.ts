import { HttpError, limits, readWhole } from '@toolyard/contract'
import { ProtocolError, ProtocolErrorCode, type ServerContext } from '@modelcontextprotocol/server'
import { withText } from '../../invocation/batch/tool-invoker.ts'
import { callOrigin, placeOfCall } from '../call/call-meta.ts'
import { isTooLarge } from '../call/call-result.ts'
import type { Exchange } from '../call/exchange.ts'
import type { McpParts } from '../call/mcp-parts.ts'
import { abandonment } from '../call/tool-call.ts'

/** How long what isn't a call of a tool is waited for, in milliseconds. */
const waitMs = limits.waitMs.max

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

  /**
   * The output of a call.
   *
   * @throws HttpError `FORBIDDEN` for a key that may not run tools; ProtocolError with the failure of the tool.
   */
  async output (name: string, args: Record<string, unknown>): Promise<unknown> {
    const { principal } = this.#exchange
    if (principal.role !== 'admin') throw new HttpError('FORBIDDEN', 'This operation requires an admin API key.')
    const place = placeOfCall(this.#context, this.#exchange.place)
    const { abandoned, close } = abandonment(this.#context, this.#exchange, this.#parts)
    try {
      const answer = withText(await this.#parts.invoker.invoke({ name, arguments: args, waitMs, ...place, onDisconnect: 'cancel' }, {
        principal, idempotencyKey: undefined, origin: callOrigin(this.#context, this.#exchange), abandoned
      }))
      const job = answer.jobId === undefined ? {} : { job_id: answer.jobId }
      if (answer.kind === 'pending') throw new ProtocolError(ProtocolErrorCode.InternalError, `It takes longer than ${waitMs / 1_000} s`, { code: 'TIMEOUT', ...job })
      if (answer.kind === 'failed') {
        const { code, message, details } = answer.error
        throw new ProtocolError(code === 'INVALID_ARGUMENTS' ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError, message, { code, ...details !== undefined && { details }, ...job })
      }
      if (answer.cut !== undefined) throw new ProtocolError(ProtocolErrorCode.InternalError, `It is larger than the ${answer.cut.storedBytes} bytes that are kept`, { code: 'OUTPUT_INVALID', ...job })
      return isTooLarge(answer.json) ? answer.json : readWhole(answer.json)
    } finally {
      close()
    }
  }
}
