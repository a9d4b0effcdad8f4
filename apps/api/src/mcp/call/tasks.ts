import { isEnd } from '@toolyard/contract/terms'
import { HttpError, isRecord, type CallError } from '@toolyard/contract'
import type { ReadJob } from '@toolyard/queue'
import {
  CLIENT_CAPABILITIES_META_KEY, fromJsonSchema, MissingRequiredClientCapabilityError, ProtocolError, ProtocolErrorCode,
  type CallToolResult, type Result, type Server, type ServerContext
} from '@modelcontextprotocol/server'
import { comeBackHint } from '../../catalog/tool-catalog.ts'
import { asking, held } from '../../invocation/batch/call-answer.ts'
import type { ToolAnswer } from '../../invocation/batch/tool-invoker.ts'
import { findJob, queueOfJob } from '../../routes/jobs/found-job.ts'
import { formsOf, type ClientForms } from '../asking/client-forms.ts'
import { pauseOf, requestsOf, taskNameOf, type OpenRequest } from '../asking/pause.ts'
import { handOn } from '../asking/responses.ts'
import { callResult, filesIn, type ResultParts } from './call-result.ts'
import { cuttingOf } from './cutting.ts'
import type { McpParts } from './mcp-parts.ts'
import type { Exchange } from './exchange.ts'
import type { ListedTool } from './tool-list.ts'

/*
 * The Tasks extension (SEP-2663). A task is a job: its id is the job's, so every process knows it, and it outlives them. A
 * client gets one for a call that takes longer than a moment, if it says that it knows tasks.
 */

export const tasksExtension = 'io.modelcontextprotocol/tasks'
/** How long a call is waited for before it becomes a task, in milliseconds. */
export const beforeTaskMs = 500
const pollIntervalMs = 1_000

const taskId = { type: 'string', maxLength: 200 }
const taskParams = fromJsonSchema<{ taskId: string }>({ type: 'object', properties: { taskId }, required: ['taskId'] })
const updateParams = fromJsonSchema<{ taskId: string }>({
  type: 'object', properties: { taskId, inputResponses: { type: 'object' } }, required: ['taskId']
})
/** Codes of failures that are the service's: the tool has not answered at all. */
const faults: ReadonlySet<string> = new Set<CallError['code']>(['WORKER_LOST', 'SANDBOX_FAILED', 'OUTPUT_INVALID', 'INTERNAL'])

export function knowsTasks ({ mcpReq: { envelope } }: ServerContext): boolean {
  const capabilities = isRecord(envelope) ? envelope[CLIENT_CAPABILITIES_META_KEY] : undefined
  const extensions = isRecord(capabilities) ? capabilities['extensions'] : undefined
  return isRecord(extensions) && extensions[tasksExtension] !== undefined
}

function requireTasks (context: ServerContext): void {
  if (knowsTasks(context)) return
  throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [tasksExtension]: {} } } })
}

/** The answer to a call whose job goes on. */
export function createdTask (job: ReadJob, forms: ClientForms, exchange: Exchange, { retentionSec }: McpParts): CallToolResult {
  const status = asksClient(job, forms, exchange) ? 'input_required' : 'working'
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- The SDK's type of an answer to a call has no task.
  return { resultType: 'task', ...base(job, status, retentionSec) } as never
}

/** Whether a job waits for something that its client can be asked. */
export function asksClient ({ view }: ReadJob, forms: ClientForms, exchange: Exchange): boolean {
  return openRequests(view, forms, exchange).length > 0
}

function openRequests (view: ReadJob['view'], forms: ClientForms, { approvalUrl }: Exchange): OpenRequest[] {
  const pause = pauseOf(view)
  return pause === undefined ? [] : requestsOf(pause, { tool: view.tool, forms, approvalUrl: approvalUrl(view.id) })
}

export function serveTasks (
  server: Server, exchange: Exchange, parts: McpParts, guarded: <T>(answer: () => Promise<T>) => Promise<T>
): void {
  const answer = (method: string, make: (id: string, context: ServerContext) => Promise<Result>): void => {
    server.setRequestHandler(method, { params: taskParams }, (params, context) => guarded(async () => {
      requireTasks(context)
      return await make(params.taskId, context).catch(unknownTask)
    }))
  }
  answer('tasks/get', async (id, context) => {
    const job = await findJob(parts.jobs, id, exchange.principal)
    const task = await taskOf(job, parts, await resultParts(job, exchange, parts))
    const open = openRequests(job.view, formsOf(context), exchange)
    if (open.length === 0) return task
    return { ...task, status: 'input_required', inputRequests: Object.fromEntries(open.map(each => [taskNameOf(each), each.request])) }
  })
  answer('tasks/cancel', async id => {
    const queue = await queueOfJob(parts.jobs, id, exchange.principal)
    await parts.canceller.cancel(queue, id)
    return {}
  })
  server.setRequestHandler('tasks/update', { params: updateParams }, (params, context) => guarded(async () => {
    requireTasks(context)
    const job = await findJob(parts.jobs, params.taskId, exchange.principal).catch(unknownTask)
    const responses = exchange.written.responsesOf(context.mcpReq.id) ?? {}
    const pause = pauseOf(job.view)
    // Approvals are decided elsewhere, by whoever may.
    for (const question of pause?.kind === 'asks' ? pause.questions : []) {
      const name = taskNameOf({ mark: String(question.number), name: question.name, question })
      if (!Object.hasOwn(responses, name)) continue
      const said = await handOn(job, question, responses[name], parts.answerer)
      if (said.kind === 'again') await parts.answerer.refuse(job.view, question.number, said.fault)
      if (said.kind === 'declined') await parts.canceller.cancel(job.view.queue, job.view.id)
    }
    return {}
  }))
}

export function isOver ({ view: { status } }: ReadJob): boolean {
  return isEnd(status)
}

/** The result of a call whose job is known; also where it goes on. */
export async function jobResult (
  job: ReadJob, exchange: Exchange, parts: McpParts, tool: ListedTool | undefined
): Promise<CallToolResult> {
  return await callResult(answerOfJob(job, exchange, parts), tool, await resultParts(job, exchange, parts))
}

/** The same before it is told in words of the protocol. */
export function answerOfJob (job: ReadJob, { principal }: Exchange, { lists }: McpParts): ToolAnswer<string> {
  return isOver(job) ? answerOf(job) : pendingOf(job, comeBackHint(lists.publication(principal)))
}

/** For a model whose call goes on, or waits for a person. */
function pendingOf ({ view: { id: jobId, tool: name, question, approval, status } }: ReadJob, hint: string): ToolAnswer<string> {
  if (question !== undefined) {
    const error: CallError = { code: 'INPUT_REQUIRED', message: `The tool asks: ${question.text}`, details: { question } }
    return { kind: 'pending', jobId, code: 'INPUT_REQUIRED', question, message: asking({ name }, jobId, error, hint).message }
  }
  if (status === 'held') return { kind: 'pending', jobId, code: 'HELD', message: held({ name }, jobId, approval?.reason ?? undefined, hint).message }
  return { kind: 'pending', jobId, code: 'TIMEOUT', message: `Tool '${name}' goes on as job ${jobId}${hint}` }
}

async function resultParts (job: ReadJob, exchange: Exchange, { images, lists }: McpParts): Promise<ResultParts> {
  const { view: { status, session }, result } = job
  const { principal, room } = exchange
  room.take(bytesOf(result))
  const [pictures = []] = await images.read(status === 'succeeded' ? [filesIn(answerOf(job))] : [], { session, principal, room })
  return { images: pictures, written: exchange.written, owner: exchange.owner, cutting: cuttingOf(exchange, lists) }
}

export function bytesOf (pieces: readonly Buffer[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0)
}

function base ({ view }: ReadJob, status: string, retentionSec: number): Record<string, unknown> {
  return {
    taskId: view.id, status, createdAt: view.created_at, lastUpdatedAt: view.updated_at, ttlMs: retentionSec * 1_000, pollIntervalMs
  }
}

async function taskOf (job: ReadJob, { retentionSec }: McpParts, made: ResultParts): Promise<Result> {
  const { status, error } = job.view
  const task = (state: string, rest: object = {}): Result => ({ ...base(job, state, retentionSec), ...rest })
  if (status === 'input_required') return task('working', { statusMessage: `input_required: ${job.view.question?.text ?? ''}` })
  if (status === 'held') return task('working', { statusMessage: 'held: it runs when somebody has approved it' })
  if (status === 'queued' || status === 'running') return task('working', { statusMessage: status })
  if (status === 'cancelled') return task('cancelled')
  if (error !== null && faults.has(error.code)) {
    return task(
      'failed', { error: { code: ProtocolErrorCode.InternalError, message: error.message, data: { code: error.code } } }
    )
  }
  return task('completed', { result: await callResult(answerOf(job), undefined, made) })
}

function answerOf ({ view, result }: ReadJob): ToolAnswer<string> {
  if (view.error !== null) {
    const { at, ...error } = view.error
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- A job's record has codes of calls alone.
    return { kind: 'failed', jobId: view.id, error: error as CallError, mayHaveRun: true }
  }
  const truncated = view.result_truncated
  return {
    kind: 'output',
    jobId: view.id,
    json: Buffer.concat(result).toString(),
    cut: truncated === undefined ? undefined : { bytes: truncated.bytes, storedBytes: truncated.stored_bytes },
    ...(view.files && { files: view.files })
  }
}

/** A job that the key may not see is one that there isn't. */
function unknownTask (error: unknown): never {
  throw error instanceof HttpError && error.code === 'NOT_FOUND'
    ? new ProtocolError(
        ProtocolErrorCode.InvalidParams, 'Unknown task: there is no such job, or it is no longer kept'
      )
    : error
}
