import { around, callErrors, jobIdHeader, outputBytesHeader, parseIdempotencyKey, parseToolCallQuery, toArguments, ToolCallQuery, ToolErrorBody, ToolPending, writeJson } from '@toolyard/contract'
import { Type } from '@toolyard/contract/type'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { principalOf } from '../access/principal.ts'
import type { FailedCall, ToolInvoker } from '../invocation/batch/tool-invoker.ts'
import { abandoned } from '../plugins/abandoned.ts'
import { retryAfterSec } from '../plugins/errors.ts'
import type { App } from '../plugins/typed-app.ts'
import { sendJson } from './jobs/found-job.ts'

/** Arguments in, output out, for callers that know HTTP and one tool. */
export async function toolRoutes (app: App, invoker: ToolInvoker, ending: AbortSignal, basePath: string): Promise<void> {
  app.post('/tools/:name', {
    config: { makesWork: true, bodyOptional: true, holdsArguments: true },
    schema: {
      params: Type.Object({ name: Type.String() }),
      querystring: ToolCallQuery,
      response: { 200: Type.Unknown(), 202: ToolPending, '4xx': ToolErrorBody, '5xx': ToolErrorBody }
    },
    // The contract's own check gives the documented texts.
    validatorCompiler: () => (value: unknown) => ({ value })
  }, async (request, reply) => {
    const { isDryRun, ...asked } = parseToolCallQuery(request.query)
    const call = { name: request.params.name, arguments: toArguments(request.body), ...asked }
    if (isDryRun) {
      const answer = await invoker.dryRun(call, principalOf(request))
      return 'kind' in answer ? await refuse(request, reply, answer) : await sendJson(reply, writeJson(around(answer)))
    }
    const answer = await invoker.invoke(call, {
      principal: principalOf(request),
      idempotencyKey: parseIdempotencyKey(request.headers['idempotency-key']),
      origin: request.origin ?? undefined,
      abandoned: abandoned(reply.raw, ending)
    })
    if (answer.jobId !== undefined) void reply.header(jobIdHeader, answer.jobId)
    if (answer.kind === 'output') {
      if (answer.cut !== undefined) void reply.header(outputBytesHeader, answer.cut.bytes)
      return await sendJson(reply, answer.json)
    }
    if (answer.kind === 'pending') {
      const waits = { ...answer.code === 'HELD' && { held: true as const }, ...answer.question && { question: answer.question } }
      void reply.code(202).header('location', `${basePath}/v1/jobs/${answer.jobId}`)
      return await sendJson(reply, JSON.stringify({ ok: true, pending: true, job_id: answer.jobId, ...waits } satisfies ToolPending))
    }
    return await refuse(request, reply, answer)
  })
}

async function refuse (request: FastifyRequest, reply: FastifyReply, failed: FailedCall): Promise<FastifyReply> {
  const { jobId, error, cause } = failed
  if (cause !== undefined) request.log.error({ err: cause }, 'request failed')
  const status = statusOf(failed)
  if (status === callErrors.QUEUE_FULL.status) void reply.header('retry-after', retryAfterSec)
  const job = jobId === undefined ? {} : { job_id: jobId }
  return await sendJson(reply.code(status), writeJson(around({ ok: false, error, ...job, request_id: request.id })))
}

/** That of the code; a 503, which clients repeat by themselves, says that the tool did not run, so an earlier attempt may not have. */
function statusOf ({ error: { code }, mayHaveRun }: FailedCall): number {
  const { status } = callErrors[code]
  return status === callErrors.TOOL_UNAVAILABLE.status && mayHaveRun ? callErrors.TOOL_FAILED.status : status
}
