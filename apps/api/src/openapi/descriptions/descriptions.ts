import {
  AnthropicToolList,
  BedrockToolList,
  GeminiToolList,
  BatchStreamEvents,
  Details,
  MessageFormats,
  InvokeBatchResponse,
  ResponsesToolList,
  ToolList
} from '@toolyard/contract'
import type { TSchema } from 'typebox'
import { Type } from '@toolyard/contract/type'
import { accessDescriptions } from './access-descriptions.ts'
import { approvalDescriptions } from './approval-descriptions.ts'
import { fileDescriptions } from './file-descriptions.ts'
import { sessionDescriptions } from './session-descriptions.ts'
import { events } from './event-content.ts'
import { examples } from './examples.ts'
import { jobDescriptions } from './job-descriptions.ts'
import { operationDescriptions } from './operation-descriptions.ts'
import type { RouteDescription } from './route-description.ts'

const text = (schema: TSchema, example?: unknown): { schema: TSchema, example?: unknown } => ({
  schema,
  ...(example === undefined ? {} : { example })
})

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
        content: { 'application/json': text(Type.Union([ToolList, ResponsesToolList, AnthropicToolList, GeminiToolList, BedrockToolList]), examples.toolList) }
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
    query: Type.Object({ format: Type.Optional(MessageFormats), details: Type.Optional(Details) }),
    body: examples.batch,
    answers: {
      200: {
        description: 'One result for each call, in their order.',
        content: { 'application/json': text(InvokeBatchResponse, examples.batchAnswer), ...events(Object.keys(BatchStreamEvents)) }
      }
    }
  },
  ...jobDescriptions,
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
  ...approvalDescriptions,
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
