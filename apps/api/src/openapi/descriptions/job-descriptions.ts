import { jobOrders, jobStates, JobStreamEvents, limits, queueNamePattern } from '@toolyard/contract'
import { Type } from '@toolyard/contract/type'
import { events } from './event-content.ts'
import { examples } from './examples.ts'
import type { RouteDescription } from './route-description.ts'

const jobFilter = {
  status: Type.Optional(Type.Enum([...jobStates])),
  type: Type.Optional(Type.String({ minLength: 1, description: 'A job type.' })),
  queue: Type.Optional(Type.String({ pattern: queueNamePattern })),
  tag: Type.Optional(Type.String({ minLength: 1 })),
  tool: Type.Optional(Type.String({ minLength: 1, description: 'The name of the tool.' })),
  key: Type.Optional(Type.String({ minLength: 1, description: 'The name of the API key that submitted it.' })),
  code: Type.Optional(Type.String({ minLength: 1, description: 'The code of its error.' })),
  worker: Type.Optional(Type.String({ minLength: 1, description: 'The id of the worker that ran it last.' })),
  text: Type.Optional(Type.String({ minLength: 1, maxLength: limits.searchChars, description: 'In its arguments or its error.' })),
  session: Type.Optional(Type.String({ minLength: 1, description: 'The session whose files were its workspace.' })),
  request: Type.Optional(Type.String({ minLength: 1, description: 'The id of the request that made it: jobs of one batch have the same.' })),
  tenant: Type.Optional(Type.String({ minLength: 1, description: 'The tenant that it belongs to, for keys that see the jobs of all.' })),
  from: Type.Optional(Type.String({ format: 'date-time', description: 'Created then, or later.' })),
  to: Type.Optional(Type.String({ format: 'date-time', description: 'Created then, or earlier.' }))
}

export const jobDescriptions: Readonly<Record<string, RouteDescription>> = {
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
    summary: 'List jobs, the newest or the oldest first',
    errors: [400],
    query: Type.Object({
      ...jobFilter,
      order: Type.Optional(Type.Enum([...jobOrders], { default: 'newest', description: 'By when they were created.' })),
      preview: Type.Optional(Type.Boolean({ default: false, description: 'Whether each job has the beginning of its arguments, as `input_preview`.' })),
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
  'GET /v1/jobs/counts': {
    id: 'jobs.count',
    tag: 'jobs',
    summary: 'Count the jobs that fit a filter, by their states',
    description: 'Up to 10,000 and some more; `complete` is false where there are others.',
    errors: [400],
    query: Type.Object(jobFilter),
    answers: {
      200: { description: 'The counts.', example: { ok: true, total: 12, states: { queued: 1, held: 0, running: 1, input_required: 0, succeeded: 8, failed: 2, cancelled: 0 }, complete: true } }
    }
  },
  'GET /v1/jobs/:id': {
    id: 'jobs.read',
    tag: 'jobs',
    summary: 'Read a job',
    errors: [404],
    answers: { 200: { description: 'The job, with its whole result.', example: { ok: true, job: examples.job } } }
  },
  'GET /v1/jobs/:id/steps': {
    id: 'jobs.steps',
    tag: 'jobs',
    summary: 'Read the steps of a workflow',
    description: 'Those of its last run. Another job has none, nor has a workflow before its first run.',
    errors: [404],
    answers: {
      200: {
        description: 'The steps, in the order of the workflow.',
        example: {
          ok: true,
          workflow: 'Nightly report',
          steps: [{
            name: 'fetch',
            tool: 'get_time',
            type: 'agentcli.get_time',
            queue: 'default',
            needs: [],
            job_id: examples.job.id,
            status: 'succeeded',
            created_at: '2026-09-01T10:00:00.000Z',
            started_at: '2026-09-01T10:00:00.004Z',
            finished_at: '2026-09-01T10:00:00.016Z',
            ran_ms: 12
          }],
          count: 1
        }
      }
    }
  },
  'POST /v1/jobs/:id/cancel': {
    id: 'jobs.cancel',
    tag: 'jobs',
    summary: 'Cancel a job that has not ended',
    errors: [400, 404, 409, 413, 415],
    answers: { 200: { description: 'The cancelled job.', example: { ok: true, job: examples.cancelledJob } } }
  },
  'POST /v1/jobs/:id/answer': {
    id: 'jobs.answer',
    tag: 'jobs',
    summary: 'Answer what the tool of a job asks',
    description: 'The answer is checked against the schema of the question; one that does not fit is a 400 and changes nothing. The tool runs again from its start with it. An answer that comes too late is a conflict.',
    errors: [400, 404, 409, 413, 415],
    body: { answer: { seat: 'aisle' }, number: 1 },
    answers: { 200: { description: 'The job, which goes on.', example: { ok: true, job: examples.job } } }
  },
  'POST /v1/jobs/:id/promote': {
    id: 'jobs.promote',
    tag: 'jobs',
    summary: 'Run a delayed job now',
    description: 'It runs as soon as a worker is free. A job that does not wait for its time is a conflict.',
    errors: [400, 404, 409, 413, 415],
    answers: { 200: { description: 'The job, which is due.', example: { ok: true, job: examples.job } } }
  },
  'DELETE /v1/jobs/:id': {
    id: 'jobs.remove',
    tag: 'jobs',
    summary: 'Remove a job that has ended',
    description: 'With its output and its log. Files of its session stay.',
    errors: [404, 409],
    answers: { 200: { description: 'The id of the job that is gone.', example: { ok: true, id: examples.job.id } } }
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
  }
}
