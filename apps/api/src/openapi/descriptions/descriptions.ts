import {
  AnthropicToolList,
  BatchStreamEvents,
  Format,
  InvokeBatchResponse,
  jobStates,
  JobStreamEvents,
  limits,
  queueNamePattern,
  ResponsesToolList,
  ToolList
} from '@toolyard/contract'
import { Type, type TSchema } from 'typebox'
import { accessDescriptions } from './access-descriptions.ts'
import { fileDescriptions } from './file-descriptions.ts'
import { sessionDescriptions } from './session-descriptions.ts'
import { examples } from './examples.ts'
import { operationDescriptions } from './operation-descriptions.ts'
import type { RouteDescription } from './route-description.ts'

const text = (schema: TSchema, example?: unknown): { schema: TSchema, example?: unknown } => ({
  schema,
  ...(example === undefined ? {} : { example })
})
const events = (names: readonly string[]): Record<string, { schema: TSchema }> => ({
  'text/event-stream': text(Type.String({ description: `Server-sent events: ${names.join(', ')}; the data of each is JSON.` }))
})

/** What is said of each route, by method and path. */
export const descriptions: Readonly<Record<string, RouteDescription>> = {
  'GET /v1/agent-tools': {
    id: 'tools.list',
    tag: 'tools',
    summary: 'List the tools that the key may see',
    description: 'As function specs for models: in the shape of chat completions, or of the API that `format` names.',
    errors: [400],
    headers: ['If-None-Match'],
    answers: {
      200: {
        description: 'The tools.',
        headers: ['ETag'],
        content: { 'application/json': text(Type.Union([ToolList, ResponsesToolList, AnthropicToolList]), examples.toolList) }
      },
      304: { description: 'They are as If-None-Match has them.', headers: ['ETag'], empty: true }
    }
  },
  'POST /v1/tools/:name': {
    id: 'tools.call',
    tag: 'tools',
    summary: 'Run one tool',
    description: 'The arguments are the body, the output is the answer. Each tool that the key may see has an operation of its own too.',
    errors: [400, 404, 409, 413, 415, 422],
    headers: ['Idempotency-Key'],
    body: { path: 'README.md' },
    answers: {
      200: {
        description: 'The output of the tool.',
        headers: ['x-toolyard-job-id', 'x-toolyard-output-bytes'],
        example: { content: '# Notes' }
      },
      202: { description: '`wait_ms` ended first; the job goes on.', headers: ['Location', 'x-toolyard-job-id'], example: examples.pending }
    }
  },
  'GET /v1/skills': {
    id: 'skills.list',
    tag: 'tools',
    summary: 'List the skills, with a text for the system prompt',
    answers: { 200: { description: 'The skills.', example: examples.skills } }
  },
  'POST /v1/agent-tools/invoke-batch': {
    id: 'batches.invoke',
    tag: 'batches',
    summary: 'Run several calls of a model',
    description: 'The calls come as `calls`, or in a message of a provider as it came (`tool_calls`, `output` or `content`). ' +
      'A call that fails has its error in its own answer; the request is a 200. ' +
      'With `Accept: text/event-stream` each answer is sent when it is there.',
    errors: [400, 409, 413, 415],
    headers: ['Idempotency-Key'],
    query: Type.Object({ format: Type.Optional(Format) }),
    body: examples.batch,
    answers: {
      200: {
        description: 'One result for each call, in their order.',
        content: { 'application/json': text(InvokeBatchResponse, examples.batchAnswer), ...events(Object.keys(BatchStreamEvents)) }
      }
    }
  },
  'POST /v1/jobs': {
    id: 'jobs.submit',
    tag: 'jobs',
    summary: 'Submit a job',
    errors: [400, 404, 409, 413, 415],
    headers: ['Idempotency-Key'],
    body: examples.submission,
    answers: {
      200: {
        description: 'An earlier request with the same Idempotency-Key made the job.',
        example: { ok: true, job: examples.job, idempotent: true }
      },
      201: { description: 'The job was made.', example: { ok: true, job: examples.queuedJob, idempotent: false } }
    }
  },
  'GET /v1/jobs': {
    id: 'jobs.list',
    tag: 'jobs',
    summary: 'List jobs, the newest first',
    errors: [400],
    query: Type.Object({
      status: Type.Optional(Type.Enum([...jobStates])),
      type: Type.Optional(Type.String({ minLength: 1, description: 'A job type.' })),
      queue: Type.Optional(Type.String({ pattern: queueNamePattern })),
      tag: Type.Optional(Type.String({ minLength: 1 })),
      tool: Type.Optional(Type.String({ minLength: 1, description: 'The name of the tool.' })),
      key: Type.Optional(Type.String({ minLength: 1, description: 'The name of the API key that submitted it.' })),
      code: Type.Optional(Type.String({ minLength: 1, description: 'The code of its error.' })),
      worker: Type.Optional(Type.String({ minLength: 1, description: 'The id of the worker that ran it last.' })),
      from: Type.Optional(Type.String({ format: 'date-time', description: 'Created then, or later.' })),
      to: Type.Optional(Type.String({ format: 'date-time', description: 'Created then, or earlier.' })),
      limit: Type.Optional(Type.Integer({ minimum: limits.jobPage.min, maximum: limits.jobPage.max, default: limits.jobPage.default })),
      cursor: Type.Optional(Type.String({ minLength: 1, description: 'The `next_cursor` of the answer to the same query.' }))
    }),
    answers: {
      200: {
        description: 'The jobs; `next_cursor` is null on the last page.',
        example: { ok: true, jobs: [examples.jobSummary], count: 1, next_cursor: null }
      }
    }
  },
  'GET /v1/jobs/:id': {
    id: 'jobs.read',
    tag: 'jobs',
    summary: 'Read a job',
    errors: [404],
    answers: { 200: { description: 'The job, with its whole result.', example: { ok: true, job: examples.job } } }
  },
  'POST /v1/jobs/:id/cancel': {
    id: 'jobs.cancel',
    tag: 'jobs',
    summary: 'Cancel a job that has not ended',
    errors: [400, 404, 409, 413, 415],
    answers: { 200: { description: 'The cancelled job.', example: { ok: true, job: examples.cancelledJob } } }
  },
  'GET /v1/jobs/:id/logs': {
    id: 'jobs.logs',
    tag: 'jobs',
    summary: 'Read the last lines of the log of a job',
    errors: [400, 404],
    query: Type.Object({
      tail: Type.Optional(Type.Integer({
        minimum: limits.logTail.min,
        maximum: limits.logTail.max,
        default: limits.logTail.default,
        description: 'How many lines.'
      }))
    }),
    answers: { 200: { description: 'The lines, the oldest first.', example: { ok: true, logs: [examples.logEntry], count: 1 } } }
  },
  'GET /v1/jobs/:id/stream': {
    id: 'jobs.stream',
    tag: 'jobs',
    summary: 'Follow a job',
    description: 'The key must be one that may open event streams. A ticket of `POST /v1/auth/sse-token` opens the stream as well.',
    errors: [400, 404],
    headers: ['Last-Event-ID'],
    query: Type.Object({
      since_log_id: Type.Optional(Type.String({
        description: 'Resume after this line of the log; of this and Last-Event-ID the later counts.'
      }))
    }),
    answers: { 200: { description: 'The job as it happens, up to its end.', content: events(Object.keys(JobStreamEvents)) } }
  },
  'GET /v1/job-types': {
    id: 'job-types.list',
    tag: 'job types',
    summary: 'List the job types',
    answers: { 200: { description: 'The job types.', example: { ok: true, types: [examples.jobType], count: 1 } } }
  },
  'PATCH /v1/job-types/:name': {
    id: 'job-types.switch',
    tag: 'job types',
    summary: 'Switch a job type',
    description: 'What is given is changed, the rest stays. A key that is bound to queues switches none.',
    errors: [400, 404, 413, 415],
    body: { enabled: false },
    answers: {
      200: { description: 'The job type as it applies now.', example: { ok: true, type: { ...examples.jobType, enabled: false } } }
    }
  },
  ...accessDescriptions,
  ...fileDescriptions,
  ...sessionDescriptions,
  ...operationDescriptions,
  'GET /health': {
    id: 'service.health',
    tag: 'service',
    summary: 'Ask whether the process answers',
    answers: { 200: { description: 'It does.', example: { ok: true, service: 'toolyard-api', time: examples.job.created_at } } }
  },
  'GET /ready': {
    id: 'service.ready',
    tag: 'service',
    summary: 'Ask whether the process can serve',
    answers: {
      200: { description: 'It can.', example: { ok: true, checks: { redis: { ok: true } } } },
      503: {
        description: 'It can not: `checks` says why.',
        example: { ok: false, checks: { redis: { ok: false, detail: 'Redis does not answer' } } }
      }
    }
  },
  'GET /metrics': {
    id: 'service.metrics',
    tag: 'service',
    summary: 'Read the metrics of the process',
    description: 'For keys with the role admin that are not bound to queues.',
    answers: { 200: { description: 'In the text format of Prometheus.', content: { 'text/plain': text(Type.String()) } } }
  },
  'GET /openapi.json': {
    id: 'service.openapi',
    tag: 'service',
    summary: 'Read this document',
    description: 'Without a key it has the fixed routes, with a key also an operation for each tool that the key may see.',
    errors: [400, 401, 403, 500, 503],
    headers: ['If-None-Match'],
    query: Type.Object({
      tools: Type.Optional(Type.Literal('only', { description: 'The operations of tools alone, which importers want; needs a key.' }))
    }),
    answers: {
      200: {
        description: 'A document of OpenAPI 3.1.',
        headers: ['ETag'],
        content: { 'application/json': text(Type.Object({ openapi: Type.String() })) }
      },
      304: { description: 'It is as If-None-Match has it.', headers: ['ETag'], empty: true }
    }
  }
}
