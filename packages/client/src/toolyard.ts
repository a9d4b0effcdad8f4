import { ToolError, type ErrorCode } from './http/errors.ts'
import { follow, type FollowOptions, type JobEvent } from './follow.ts'
import { Approvals } from './approvals.ts'
import { Jobs, type WaitOptions } from './jobs.ts'
import { Files } from './files.ts'
import { newKey } from './http/key.ts'
import { Secrets } from './secrets.ts'
import { Sessions } from './sessions.ts'
import { sleep } from './http/backoff.ts'
import {
  batchesOf, joinAnswers, type AiSdkAnswer, type AiSdkResult, type AiSdkToolCall, type AnthropicAnswer, type AnthropicMessage,
  type BedrockAnswer, type BedrockResponse, type ChatAnswer, type ChatCompletion, type ChatMessage, type ChatToolCall, type Format,
  type GeminiAnswer, type GeminiResponse, type LangChainAnswer, type LangChainMessage, type LangChainToolCall, type ProviderAnswer,
  type ResponsesAnswer, type ResponsesOutput, type ToolOf
} from './providers.ts'
import { exactJson } from './http/json.ts'
import { list, record, text } from './http/shape.ts'
import { Transport, type ToolyardOptions } from './http/transport.ts'
import type { CallResult, JobView, Progress } from './http/wire.ts'

export interface ToolsOptions extends WaitOptions {
  /** The form that strict mode asks for, where a tool's schema allows it. */
  strict?: boolean | undefined
  /** Only the tools that fit these words, best first. */
  search?: string | undefined
  /** Only the tools of this namespace. */
  namespace?: string | undefined
  /** With `search`, how many tools at most: 5 when absent. */
  limit?: number | undefined
  /**
   * Names of the tools that models have from the start: the others are deferred, as the provider does it. `[]`: those alone whose
   * manifest says `pinned`.
   */
  pinned?: readonly string[] | undefined
}

export interface InvokeOptions extends WaitOptions {
  /** `default` when absent. */
  queue?: string | undefined
  /** The session whose files are their workspace. */
  session?: string | undefined
  /** How long calls are waited for, in milliseconds; 10 minutes. `0` asks once, for `waitMs`. */
  timeoutMs?: number | undefined
  /** How long one request of this wait takes at most: 100 to 60000, 15000 when absent. */
  waitMs?: number | undefined
  /** From how many characters of JSON on outputs are cut in what the model gets: 1,000 to 200,000; 12,000 when absent. */
  maxOutputChars?: number | undefined
  /** Calls with the same key run once within 24 hours, also when they are made by another process; a new key when absent. */
  idempotencyKey?: string | undefined
}

export interface CallOptions extends InvokeOptions {
  /** Gets how far the tool is, if the tool reports it and the key may open streams. Then the first request is a short one. */
  onProgress?: ((progress: Progress) => void) | undefined
  /** Gets the sizes of an output of which the service has kept the beginning alone. */
  onCut?: ((cut: { bytes: number, storedBytes: number }) => void) | undefined
  /** Gets the pending answer of a call that waits for a person, by its code `HELD` or `INPUT_REQUIRED`: once for each cause. */
  onPerson?: ((result: CallResult) => void) | undefined
}

interface BatchAnswer {
  results: CallResult[]
  /** For a provider's calls. */
  messages?: ProviderAnswer[]
}

/** How long the first request of a call takes at most whose progress is wanted, in milliseconds. */
const firstWaitMs = 300
/** Wait between two requests when the first was answered before its time, as when the service stops. */
const pauseMs = 200

/** A client of Toolyard. It keeps no connection and needs no closing. */
export class Toolyard {
  /** Submitting, reading, listing and cancelling jobs. */
  readonly jobs: Jobs
  /** Calls that wait for a person. */
  readonly approvals: Approvals
  /** Secrets that tools use, for keys with the role `admin`. */
  readonly secrets: Secrets
  /** Making, listing and removing sessions, and their files. */
  readonly sessions: Sessions
  /** Files of the shared workspace, for keys without a tenant. */
  readonly files: Files
  readonly #transport: Transport

  constructor (options: ToolyardOptions = {}) {
    this.#transport = new Transport(options)
    this.jobs = new Jobs(this.#transport)
    this.approvals = new Approvals(this.#transport)
    this.secrets = new Secrets(this.#transport)
    this.sessions = new Sessions(this.#transport)
    this.files = new Files(this.#transport, '/v1/files')
  }

  /** The tools, as the provider's API takes them. @throws ToolyardError */
  async tools<F extends Format = 'chat'> (format?: F, { strict, search, namespace, limit, pinned, signal }: ToolsOptions = {}): Promise<Array<ToolOf[F]>> {
    const deferred = pinned === undefined ? {} : { defer: '1', pin: pinned.length === 0 ? undefined : pinned.join() }
    const query = { format: format ?? 'chat', strict: strict === true ? 'true' : undefined, search, namespace, limit, ...deferred }
    // Libraries of providers write the schemas by `JSON.stringify`, which takes no bigint. The service checks calls by all digits.
    const request = { method: 'GET', path: '/v1/agent-tools', query, signal, parse: JSON.parse } as const
    const answer = await this.#transport.send<{ tools: Array<ToolOf[F]> }>(request, { tools: list(record(query.format === 'chat' ? { function: record({ name: text }) } : {})) })
    return answer.tools
  }

  /**
   * Runs the calls of a model's message and gives what to append to the conversation: one answer for each call, also for
   * one that failed. It waits until all have ended, or `timeoutMs` has: then the answer to such a call names its job. So does that
   * to a call which waits for a person's approval or answer: for those it doesn't wait.
   *
   * @param message as the provider's library gave it: a message or a whole answer of chat completions, the Responses API,
   *   Anthropic, Gemini, Bedrock, Ollama, Mistral or Cohere, a message of LangChain's, a result of the AI SDK, or the list
   *   of calls in one of these. One without calls gives an empty list, and so do null and undefined.
   * @throws ToolyardError when the calls could not be made; `VALIDATION_ERROR` for a message that isn't known.
   */
  async invoke (message: ResponsesOutput, options?: InvokeOptions): Promise<ResponsesAnswer[]>
  async invoke (message: AiSdkResult | readonly AiSdkToolCall[], options?: InvokeOptions): Promise<AiSdkAnswer[]>
  async invoke (message: AnthropicMessage, options?: InvokeOptions): Promise<AnthropicAnswer[]>
  async invoke (message: ChatMessage | ChatCompletion | readonly ChatToolCall[], options?: InvokeOptions): Promise<ChatAnswer[]>
  async invoke (message: BedrockResponse, options?: InvokeOptions): Promise<BedrockAnswer[]>
  async invoke (message: GeminiResponse, options?: InvokeOptions): Promise<GeminiAnswer[]>
  async invoke (message: LangChainMessage | readonly LangChainToolCall[], options?: InvokeOptions): Promise<LangChainAnswer[]>
  async invoke (message: ReadonlyArray<{ type?: string }>, options?: InvokeOptions): Promise<ResponsesAnswer[]>
  async invoke (message: object | null | undefined, options?: InvokeOptions): Promise<ProviderAnswer[]>
  async invoke (message: object | null | undefined, options: InvokeOptions = {}): Promise<ProviderAnswer[]> {
    // A list of calls that a library left out.
    if (message === null || message === undefined) return []
    const key = options.idempotencyKey ?? newKey()
    const batches = batchesOf(message).map(async (body, index) =>
      (await this.#batch(body, { ...options, idempotencyKey: index === 0 ? key : `${key}-${index}` }, true)).messages ?? [])
    return joinAnswers(await Promise.all(batches))
  }

  /**
   * Calls one tool and gives its whole output.
   *
   * @param args an object, which the service checks.
   * @throws ToolError when the tool or its call failed, with the code `TIMEOUT` when it hasn't ended within `timeoutMs`;
   *   ToolyardError when the call could not be made.
   */
  async call (name: string, args: unknown = {}, options: CallOptions = {}): Promise<unknown> {
    const body = { calls: [{ call_id: '1', name, arguments: args }] }
    const { results: [result] } = await this.#calling(body, options)
    if (result?.ok === true) return await this.#whole(result, options)
    const { code = 'INTERNAL', message = 'The call has no answer', details } = result?.error ?? {}
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- The service's own.
    throw new ToolError(name, result?.job_id, code as ErrorCode, message, { status: 200, details })
  }

  /** Follows a job until it has ended, over broken connections and restarts of the service. The last event is `end`. */
  follow (job: string | { id: string }, options: FollowOptions = {}): AsyncGenerator<JobEvent> {
    return follow(this.#transport, typeof job === 'string' ? job : job.id, options)
  }

  /** Cancels a job. @throws ToolyardError `CONFLICT` when it has finished. */
  async cancel (job: string | { id: string }, options: WaitOptions = {}): Promise<JobView> {
    return await this.jobs.cancel(typeof job === 'string' ? job : job.id, options)
  }

  async #calling (body: object, { onProgress, onCut: _, onPerson, ...options }: CallOptions): Promise<BatchAnswer> {
    const onAnswer = onPerson === undefined ? undefined : tellPerson(onPerson)
    const keyed = { ...options, onAnswer, idempotencyKey: options.idempotencyKey ?? newKey() }
    if (onProgress === undefined || options.timeoutMs === 0) return await this.#batch(body, keyed)
    const ended = new AbortController()
    try {
      const first = await this.#batch(body, { ...keyed, waitMs: firstWaitMs, timeoutMs: 0 })
      const [result] = first.results
      if (result?.pending !== true || result.job_id === undefined) return first
      void this.#tellProgress(result.job_id, onProgress, ended.signal)
      return await this.#batch(body, keyed)
    } finally {
      ended.abort()
    }
  }

  /** Progress is an extra: a stream that can't be had fails no call. */
  async #tellProgress (id: string, onProgress: (progress: Progress) => void, signal: AbortSignal): Promise<void> {
    try {
      for await (const event of this.follow(id, { signal })) {
        if (signal.aborted) return
        if (event.type === 'progress') onProgress(event.progress)
        if (event.type === 'state' && event.job.progress !== undefined) onProgress(event.job.progress)
      }
    } catch {}
  }

  /** A batch that is sent again with the same key gets the answers of the same jobs: this is how pending calls are waited for. */
  async #batch (
    body: object,
    options: InvokeOptions & { idempotencyKey: string, onAnswer?: ((answer: BatchAnswer) => void) | undefined },
    isForModel = false
  ): Promise<BatchAnswer> {
    const { queue, session, timeoutMs = 600_000, waitMs = 15_000, maxOutputChars: chars, idempotencyKey, signal } = options
    const end = performance.now() + timeoutMs
    for (;;) {
      const started = performance.now()
      const wait = timeoutMs === 0 ? waitMs : Math.max(100, Math.min(waitMs, Math.round(end - started)))
      const answer = await this.#transport.send<BatchAnswer>({
        method: 'POST',
        path: '/v1/agent-tools/invoke-batch',
        body: {
          ...body,
          wait_ms: wait,
          ...(queue === undefined ? {} : { queue }),
          ...(session === undefined ? {} : { session }),
          ...(chars === undefined ? {} : { max_output_chars: chars })
        },
        headers: { 'idempotency-key': idempotencyKey },
        signal,
        answerMs: wait
      }, { results: list(record({})) })
      options.onAnswer?.(answer)
      // The model has said itself how long `job_result` waits. It is told when a call waits for a person.
      const isPending = answer.results.some(({ pending, name, error }) => pending === true && name !== 'job_result' &&
        !(isForModel && isForPerson(error?.code)))
      if (performance.now() >= end || !isPending) return answer
      if (performance.now() - started < wait) await sleep(pauseMs, signal)
    }
  }

  /** A long output is cut for a model; the job has it whole. */
  async #whole ({ output, job_id: jobId }: CallResult, { signal, onCut }: CallOptions): Promise<unknown> {
    if (jobId === undefined || !isCut(output)) return output
    const { result, result_truncated: cut } = await this.jobs.get(jobId, { signal })
    if (cut !== undefined) onCut?.({ bytes: cut.bytes, storedBytes: cut.stored_bytes })
    return result
  }
}

function isForPerson (code: string | undefined): boolean {
  return code === 'HELD' || code === 'INPUT_REQUIRED'
}

/** The service repeats what a call waits for in each answer. */
function tellPerson (onPerson: (result: CallResult) => void): (answer: BatchAnswer) => void {
  let last: string | undefined
  return ({ results: [result] }) => {
    if (result?.pending !== true || !isForPerson(result.error?.code)) return
    const cause = exactJson.stringify(result.error)
    if (cause !== last) onPerson(result)
    last = cause
  }
}

function isCut (output: unknown): boolean {
  return typeof output === 'object' && output !== null && 'truncated' in output && 'preview' in output
}
