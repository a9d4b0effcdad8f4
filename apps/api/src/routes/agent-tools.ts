import { providerTools, type Tool } from '@toolyard/manifests'
import {
  AnthropicToolList, BedrockToolList, checkBatchQuery, checkBatchRequest, ErrorBody, GeminiToolList, HttpError, InvokeBatchQuery,
  InvokeBatchRequest, InvokeBatchResponse, limits,
  parseIdempotencyKey, queryChars, ResponsesToolList, SkillList, ToolList, ToolListQuery
} from '@toolyard/contract'
import type { JobLogs } from '@toolyard/queue'
import { Type } from '@toolyard/contract/type'
import { principalOf, requireSse } from '../access/principal.ts'
import type { BatchInvoker } from '../invocation/batch/batch-invoker.ts'
import type { ReadLog } from '../invocation/batch/call-answer.ts'
import { answerJson, batchResponse, type AnsweredCall } from '../invocation/batch/batch-response.ts'
import { readBatch } from '../invocation/batch/batch-reader.ts'
import { imageFormats } from '../invocation/batch/message-answers.ts'
import { abandoned } from '../plugins/abandoned.ts'
import { answerRoom, type AnswerRoom } from '../plugins/load/unsent-answers.ts'
import { namesTag } from '../plugins/entity-tag.ts'
import type { App } from '../plugins/typed-app.ts'
import { retryAfterSec } from '../plugins/errors.ts'
import { prefersEvents } from '../streams/accepted-types.ts'
import { streamBatch } from '../streams/batch-stream.ts'
import type { EventStreams } from '../streams/event-streams.ts'
import type { ReturnedImages } from '../files/returned-images.ts'
import type { ToolQuery } from '../catalog/search/tool-search.ts'
import { published, type Publication, type Published, type ToolCatalog } from '../catalog/tool-catalog.ts'
import { sendJson } from './jobs/found-job.ts'

export interface AgentToolRoutesOptions {
  catalog: ToolCatalog
  invoker: BatchInvoker
  streams: EventStreams
  logs: JobLogs
  images: ReturnedImages
  /** Aborted when requests that still wait must be answered with what is there. */
  ending: AbortSignal
}

/** Lines of a log that an error's details have. */
const logLines = 100

export async function agentToolRoutes (
  app: App, { catalog, invoker, streams, logs, images, ending }: AgentToolRoutesOptions
): Promise<void> {
  const logReader = (room: AnswerRoom): ReadLog => async (queue, jobId) => {
    const lines = (await logs.tail(queue, jobId, logLines)).map(({ message }) => message)
    room.take(lines.reduce((sum, { length }) => sum + length, 0))
    return lines
  }
  const lists = Type.Union([ToolList, ResponsesToolList, AnthropicToolList, GeminiToolList, BedrockToolList])
  app.get('/agent-tools', { schema: { querystring: ToolListQuery, response: { 200: lists, '4xx': ErrorBody } } }, async (request, reply) => {
    const { format = 'chat', strict, search, namespace, defer, pin, limit = limits.toolSearch.results.default } = request.query
    if (limit !== limits.toolSearch.results.default && search === undefined) throw new HttpError('VALIDATION_ERROR', "'limit' goes with 'search': a list is whole")
    const publication = catalog.publication(principalOf(request))
    const isStrict = strict === 'true'
    const isDeferred = defer === '1' || defer === 'true'
    if (isDeferred && (search !== undefined || namespace !== undefined)) throw new HttpError('VALIDATION_ERROR', "'defer' is for a whole list: it goes with neither 'search' nor 'namespace'")
    if (pin !== undefined && !isDeferred) throw new HttpError('VALIDATION_ERROR', "'pin' goes with 'defer=1'")
    const make = async (): Promise<Published> => {
      if (isDeferred) return await publication.deferred({ format, strict: isStrict, pins: pinsOf(pin, publication) })
      return await published(await chosen(publication, { search, namespace, limit }), providerTools(format, isStrict), format)
    }
    const isWhole = !isDeferred && search === undefined && namespace === undefined
    const { body, etag } = isWhole
      ? await publication.specs(format, isStrict)
      : await catalog.inTurn(principalOf(request), abandoned(reply.raw), make)
    void reply.header('etag', etag).header('cache-control', 'private, no-cache')
    const isKnown = namesTag(request.headers['if-none-match'], etag)
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- The publication has made the text that the schema describes.
    const text = (isKnown ? '' : body) as never
    if (isKnown) return await reply.code(304).serializer(asIs).send(text)
    return await reply.header('content-type', 'application/json; charset=utf-8').serializer(asIs).send(text)
  })

  app.get('/skills', { schema: { response: { 200: SkillList, '4xx': ErrorBody } } }, async request => catalog.publication(principalOf(request)).skills)

  app.post('/agent-tools/invoke-batch', {
    config: { makesWork: true, holdsArguments: true, holdsMessages: true },
    schema: { querystring: InvokeBatchQuery, body: InvokeBatchRequest, response: { 200: InvokeBatchResponse, '4xx': ErrorBody, '5xx': ErrorBody } },
    // The contract's own check names the first error in the documented order.
    validatorCompiler: ({ httpPart }) => (value: unknown) => {
      const error: HttpError | undefined = httpPart === 'body' ? checkBatchRequest(value) : checkBatchQuery(value)
      return error === undefined ? { value } : { error }
    }
  }, async (request, reply) => {
    const gone = abandoned(reply.raw, ending)
    const room = answerRoom(app, reply, principalOf(request))
    const { batch: read, message } = await readBatch(request.body, request.isPoisoned)
    const batch = { ...read, maxOutputChars: read.maxOutputChars ?? queryChars(request.query.max_output_chars) }
    const format = request.query.format ?? message?.format
    const showsImages = format !== undefined && imageFormats.includes(format)
    const caller = {
      principal: principalOf(request),
      idempotencyKey: parseIdempotencyKey(request.headers['idempotency-key']),
      origin: request.origin ?? undefined,
      abandoned: gone,
      room,
      showsImages,
      ...(request.query.details === 'log' ? { readLog: logReader(room) } : {})
    }
    const told = async (answered: readonly AnsweredCall[]): Promise<InvokeBatchResponse> => {
      const outputs = showsImages ? answered.map(({ answer }) => answer.kind === 'succeeded' ? answer.output : undefined) : []
      const returned = await images.read(outputs, { session: batch.session, principal: caller.principal, room })
      const shown = answered.map(({ answer }, index) => [
        ...answer.kind === 'succeeded' ? answer.shown?.images ?? [] : [],
        ...returned[index] ?? []
      ])
      const response = await batchResponse(batch.mode, answered, { format, origin: message, images: shown })
      room.letGo()
      return response
    }
    if (!prefersEvents(request.headers.accept)) {
      const answer = await told(await invoker.invoke(batch, caller))
      if (answer.results.some(result => !result.ok && result.error?.code === 'QUEUE_FULL')) void reply.header('retry-after', retryAfterSec)
      // The shapes of messages are a union, which the serializer of the schema would try one by one.
      return await sendJson(reply, await answerJson(answer))
    }
    requireSse(caller.principal)
    await streamBatch(streams, reply, async listener =>
      await told(await invoker.invoke(batch, { ...caller, listener })))
    return reply
  })
}

/** @throws HttpError for a name that the list doesn't have: a model would miss the tool. */
function pinsOf (pin: string | undefined, { names }: Publication): Set<string> {
  const pins = new Set((pin ?? '').split(',').map(name => name.trim()).filter(name => name !== ''))
  const known = new Set(names)
  for (const name of pins) if (!known.has(name)) throw new HttpError('VALIDATION_ERROR', `'pin' names '${name}', which is no tool that this key may call`)
  return pins
}

async function chosen (
  { search: finder, visible }: Publication, { search, namespace, limit }: Omit<ToolQuery, 'query'> & { search: string | undefined }
): Promise<readonly Tool[]> {
  if (search !== undefined) return await finder.find({ query: search, namespace, limit })
  return visible.filter(tool => tool.namespace === namespace)
}

function asIs (payload: unknown): string {
  return String(payload)
}
