import {
  isJSONRPCErrorResponse, isJSONRPCRequest, isJSONRPCResultResponse, WebStandardStreamableHTTPServerTransport,
  type JSONRPCMessage, type RequestId
} from '@modelcontextprotocol/server'
import { jobIdOf } from './call-result.ts'
import { rpcCodes } from './rpc-error.ts'

type Answer = Extract<JSONRPCMessage, { result: unknown } | { error: unknown }>
type SendOptions = Parameters<WebStandardStreamableHTTPServerTransport['send']>[1]

/** Bytes that the answers to a batch have together. A message by itself is bounded by what it asks for. */
const mostBytes = 4 * 1_024 * 1_024

/**
 * Serves one body of a client of 2025. Messages of a batch are answered one after the other, so that no two large answers are
 * made at a time. Calls wait for workers, and run side by side.
 */
export class BoundedTransport extends WebStandardStreamableHTTPServerTransport {
  #isBatch = false
  #bytes = 0
  #serving: RequestId | undefined
  readonly #waiting: Array<{ id: RequestId, serve: () => void }> = []

  /** Has the body taken for a batch; to be called when a server is connected. */
  boundBatch (): void {
    this.#isBatch = true
    const serve = this.onmessage
    this.onmessage = (message, extra) => {
      if (!isJSONRPCRequest(message) || message.method === 'tools/call') return serve?.(message, extra)
      this.#waiting.push({ id: message.id, serve: () => { serve?.(message, extra) } })
      if (this.#serving === undefined) this.#serveNext()
    }
  }

  override async send (message: JSONRPCMessage, options?: SendOptions): Promise<void> {
    if (!isAnswer(message)) return await super.send(message, options)
    try {
      await super.send(this.#isBatch ? this.#fitting(message) : message, options)
    } catch {
      // One that can't be written as JSON would leave its client waiting.
      await super.send(refusal(message, rpcCodes.internal, 'The answer can\'t be sent'), options)
    }
    if (message.id === this.#serving) this.#serveNext()
  }

  #serveNext (): void {
    const next = this.#waiting.shift()
    this.#serving = next?.id
    next?.serve()
  }

  /** The answer, or an error where there is no room for it. */
  #fitting (answer: Answer): JSONRPCMessage {
    const bytes = Buffer.byteLength(JSON.stringify(answer))
    if (this.#bytes + bytes > mostBytes) {
      return refusal(answer, rpcCodes.refused, `The answer of a batch has at most ${mostBytes} bytes, and this one has no room in it`)
    }
    this.#bytes += bytes
    return answer
  }
}

function isAnswer (message: JSONRPCMessage): message is Answer {
  return isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)
}

/** A call was made all the same, and is not to be repeated: its job has the output. */
function refusal (answer: Answer, code: number, why: string): JSONRPCMessage {
  const jobId = 'result' in answer ? jobIdOf(answer.result) : undefined
  const error = jobId === undefined
    ? { code, message: `${why}: send this message by itself` }
    : { code, message: `${why}: GET /v1/jobs/${jobId} has the output`, data: { job_id: jobId } }
  return { jsonrpc: '2.0', id: answer.id ?? 0, error }
}
