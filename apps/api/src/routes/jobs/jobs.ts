import {
  AnswerRequest, checkAnswer, checkJobRequest, ErrorBody, HttpError, isRecord, JobCounts, JobList, JobResponse, JobSteps,
  parseIdempotencyKey, parseJobListQuery, RemovedJob, SubmitJobRequest, SubmitJobResponse, toJobRequest, type JobListQuery
} from '@toolyard/contract'
import { queueRefusal } from '@toolyard/manifests'
import { listJson, promoteJob, type Approvals, type FinishedJobs, type JobCanceller, type JobQueues, type JobReader } from '@toolyard/queue'
import type { FastifyRequest } from 'fastify'
import { Type } from '@toolyard/contract/type'
import { bodyChecked } from '../../plugins/body/body-check.ts'
import type { App } from '../../plugins/typed-app.ts'
import { findJob, queueOfJob, sendJob, sendJson } from './found-job.ts'
import { Answerer } from '../../invocation/answerer.ts'
import type { JobSubmitter } from '../../invocation/job-submitter.ts'
import type { JobLists } from './job-lists.ts'
import { principalOf } from '../../access/principal.ts'

interface JobRoutesOptions {
  submitter: JobSubmitter
  jobs: JobReader
  lists: JobLists
  canceller: JobCanceller
  finished: FinishedJobs
  queues: JobQueues
  approvals: Approvals
}

const params = Type.Object({ id: Type.String() })

export async function jobRoutes (
  app: App, { submitter, jobs, lists, canceller, finished, queues, approvals }: JobRoutesOptions
): Promise<void> {
  const answerer = new Answerer(approvals)
  app.post('/jobs', {
    config: { makesWork: true, holdsArguments: true },
    schema: {
      body: SubmitJobRequest, response: { 200: SubmitJobResponse, 201: SubmitJobResponse, '4xx': ErrorBody, '5xx': ErrorBody }
    },
    validatorCompiler: bodyChecked(checkJobRequest)
  }, async (request, reply) => {
    const key = parseIdempotencyKey(request.headers['idempotency-key'])
    const { job, idempotent } = await submitter.submit(toJobRequest(request.body), {
      principal: principalOf(request), idempotencyKey: key, origin: request.origin ?? undefined
    })
    return await sendJob(reply.code(idempotent ? 200 : 201), job, { idempotent })
  })

  app.get('/jobs', { config: { makesWork: true, checksQuery: true }, schema: { response: { 200: JobList, '4xx': ErrorBody, '5xx': ErrorBody } } }, async (request, reply) => {
    const { jobs, nextCursor } = await lists.list(readQuery(request), request, reply)
    return await sendJson(reply, [
      Buffer.from('{"ok":true,"jobs":'), ...await listJson(jobs), Buffer.from(`,"count":${jobs.length},"next_cursor":${JSON.stringify(nextCursor)}}`)
    ])
  })

  app.get('/jobs/counts', { config: { makesWork: true, checksQuery: true }, schema: { response: { 200: JobCounts, '4xx': ErrorBody, '5xx': ErrorBody } } }, async (request, reply) => {
    return { ok: true as const, ...await lists.count(readQuery(request), request, reply) }
  })

  app.get('/jobs/:id', { schema: { params, response: { 200: JobResponse, '4xx': ErrorBody, '5xx': ErrorBody } } }, async (request, reply) => {
    return await sendJob(reply, await findJob(jobs, request.params.id, principalOf(request)))
  })

  app.get('/jobs/:id/steps', { schema: { params, response: { 200: JobSteps, '4xx': ErrorBody, '5xx': ErrorBody } } }, async request => {
    const { id } = request.params
    const { workflow, steps } = await jobs.steps(await queueOfJob(jobs, id, principalOf(request)), id)
    return { ok: true as const, workflow, steps, count: steps.length }
  })

  app.post('/jobs/:id/cancel', { config: { changes: { action: 'job.cancel' } }, schema: { params, response: { 200: JobResponse, '4xx': ErrorBody, '5xx': ErrorBody } } }, async (request, reply) => {
    const { id } = request.params
    const queue = await queueOfJob(jobs, id, principalOf(request))
    const result = await canceller.cancel(queue, id)
    if (result === 'finished') throw new HttpError('CONFLICT', 'Job already finished')
    const job = await jobs.read(queue, id)
    if (result === 'missing' || job === undefined) throw new HttpError('NOT_FOUND', 'Job not found')
    return await sendJob(reply, job)
  })

  app.post('/jobs/:id/answer', {
    config: { changes: { action: 'job.answer' } },
    schema: { params, body: AnswerRequest, response: { 200: JobResponse, '4xx': ErrorBody, '5xx': ErrorBody } },
    validatorCompiler: bodyChecked(checkAnswer)
  }, async (request, reply) => {
    const principal = principalOf(request)
    const job = await findJob(jobs, request.params.id, principal)
    await answerer.answer(job.view, request.body)
    request.log.info({ key: principal.name, job: job.view.id }, 'question of a job is answered')
    return await sendJob(reply, await jobs.read(job.view.queue, job.view.id) ?? job)
  })

  app.post('/jobs/:id/promote', { config: { changes: { action: 'job.promote' } }, schema: { params, response: { 200: JobResponse, '4xx': ErrorBody, '5xx': ErrorBody } } }, async (request, reply) => {
    const { id } = request.params
    const queue = await queueOfJob(jobs, id, principalOf(request))
    if (await jobs.isHeld(queue, id)) throw new HttpError('CONFLICT', 'The job waits until somebody approves it: see GET /v1/approvals')
    if (!await promoteJob(queues, queue, id)) throw new HttpError('CONFLICT', 'The job does not wait for its time')
    const job = await jobs.read(queue, id)
    if (job === undefined) throw new HttpError('NOT_FOUND', 'Job not found')
    request.log.info({ key: principalOf(request).name, job: id }, 'job is promoted')
    return await sendJob(reply, job)
  })

  app.delete('/jobs/:id', { config: { changes: { action: 'job.remove' } }, schema: { params, response: { 200: RemovedJob, '4xx': ErrorBody, '5xx': ErrorBody } } }, async request => {
    const { id } = request.params
    const queue = await queueOfJob(jobs, id, principalOf(request))
    if (!await finished.remove(queue, id)) throw new HttpError('CONFLICT', 'Only a job that has ended can be removed: cancel it first')
    request.log.info({ key: principalOf(request).name, job: id }, 'job is removed')
    return { ok: true as const, id }
  })
}

/** @throws HttpError `VALIDATION_ERROR`; `FORBIDDEN` for a queue that is not the key's. */
function readQuery (request: FastifyRequest): JobListQuery {
  const query = parseJobListQuery(isRecord(request.query) ? request.query : {})
  const refusal = query.queue === undefined ? undefined : queueRefusal({ queues: principalOf(request).queueAllowlist }, query.queue)
  if (refusal !== undefined) throw new HttpError('FORBIDDEN', refusal.message, refusal.details)
  return query
}
