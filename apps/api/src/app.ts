import { limits } from '@toolyard/contract'
import type { CompletionWaiter, JobCanceller, JobLister, JobLogs, JobQueues, JobReader, JobTypeTable, JobWatch, OnceStore, OutputStore, StreamTickets } from '@toolyard/queue'
import type { ApiKey, Logger, MetricsRegistry } from '@toolyard/runtime'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, type RawServerDefault } from 'fastify'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { BatchInvoker } from './invocation/batch-invoker.ts'
import { JobAdmission } from './invocation/job-admission.ts'
import { JobSubmitter } from './invocation/job-submitter.ts'
import type { JobTypes } from './job-types.ts'
import { auth } from './plugins/auth.ts'
import { errors, sendError } from './plugins/errors.ts'
import { jsonBody } from './plugins/json-body.ts'
import { stopping } from './plugins/stopping.ts'
import { RequestLog } from './request-log.ts'
import { agentToolRoutes } from './routes/agent-tools.ts'
import { authRoutes } from './routes/auth.ts'
import { healthRoutes, type ReadinessCheck } from './routes/health.ts'
import { jobLogRoutes } from './routes/job-logs.ts'
import { jobStreamRoutes } from './routes/job-stream.ts'
import { jobTypeRoutes } from './routes/job-types.ts'
import { jobRoutes } from './routes/jobs.ts'
import { metricsRoute } from './routes/metrics.ts'
import { sseTokenRoutes } from './routes/sse-token.ts'
import { EventStreams } from './streams/event-streams.ts'
import { JobStreams } from './streams/job-streams.ts'
import { TicketOffice } from './streams/ticket-office.ts'
import type { ToolCatalog } from './tool-catalog.ts'

/** What the API stands on. */
export interface ApiDeps {
  catalog: ToolCatalog
  queues: JobQueues
  waiter: CompletionWaiter
  outputs: OutputStore
  jobs: JobReader
  logs: JobLogs
  watch: JobWatch
  tickets: StreamTickets
  lister: JobLister
  canceller: JobCanceller
  onces: OnceStore
  jobTypes: JobTypes
  /** The job types that were switched, of which `jobTypes` makes its answers. */
  jobTypeTable: JobTypeTable
  /** Aborted when the process begins to stop: new requests get a 503. */
  stopping: AbortSignal
  /** Aborted when its grace time is over: requests that still wait are answered with what is there. */
  ending: AbortSignal
}

/** How the API is set up, beside what it stands on. */
export interface ApiOptions {
  keys: readonly ApiKey[]
  /** Every request counts as an admin's. */
  authDisabled: boolean
  /** Event streams that may be open at once. */
  maxStreams: number
  heartbeatMs: number
  /** How long a stream ticket is valid, in seconds. */
  ticketTtlSec: number
  readiness: Readonly<Record<string, ReadinessCheck>>
  /** Served at `/metrics` to admin keys; absent when a port of its own serves them. */
  metrics?: MetricsRegistry
  logger?: Logger
}

/** A Fastify instance that knows the TypeBox types of its routes. */
export type App = FastifyInstance<RawServerDefault, IncomingMessage, ServerResponse, FastifyBaseLogger, TypeBoxTypeProvider>

/** Time for a client to send its whole request, in milliseconds: a body that never ends holds no connection. */
const requestTimeoutMs = 30_000

/** Builds the HTTP service; it listens to nothing yet. */
export function buildApp (deps: ApiDeps, options: ApiOptions): App {
  const logger: FastifyBaseLogger | undefined = options.logger
  const app = Fastify({
    ...(logger === undefined ? {} : { loggerInstance: logger }),
    logController: new RequestLog(),
    bodyLimit: limits.bodyBytes,
    requestTimeout: requestTimeoutMs,
    return503OnClosing: false,
    frameworkErrors: (error, request, reply) => { sendError(error, request, reply) }
  }).withTypeProvider<TypeBoxTypeProvider>()

  const streams = new EventStreams({ max: options.maxStreams, heartbeatMs: options.heartbeatMs })
  const jobStreams = new JobStreams({
    jobs: deps.jobs,
    logs: deps.logs,
    watch: deps.watch,
    streams,
    stopping: deps.stopping,
    onError: error => { app.log.warn({ err: error }, 'a job stream waits') }
  })
  const office = new TicketOffice(deps.tickets, options.keys, options.ticketTtlSec)
  const admission = new JobAdmission(deps.queues, deps.onces)
  const invoker = new BatchInvoker({ ...deps, admission })
  const submitter = new JobSubmitter({ ...deps, admission })
  void app.register(errors)
  void app.register(stopping, { stopping: deps.stopping })
  void app.register(jsonBody)
  void app.register(healthRoutes, { readiness: options.readiness })
  const { metrics } = options
  if (metrics !== undefined) {
    void app.register(async own => {
      await own.register(auth, { keys: options.keys, disabled: options.authDisabled, tickets: office })
      await own.register(metricsRoute, { metrics })
    })
  }
  void app.register(async v1 => {
    await v1.register(auth, { keys: options.keys, disabled: options.authDisabled, tickets: office })
    await v1.register(agentToolRoutes, { catalog: deps.catalog, invoker, streams, ending: deps.ending })
    await v1.register(authRoutes)
    await v1.register(jobRoutes, { submitter, jobs: deps.jobs, lister: deps.lister, canceller: deps.canceller })
    await v1.register(jobLogRoutes, { jobs: deps.jobs, logs: deps.logs })
    await v1.register(jobStreamRoutes, { jobs: deps.jobs, streams: jobStreams })
    await v1.register(sseTokenRoutes, { office })
    await v1.register(jobTypeRoutes, { catalog: deps.catalog, jobTypes: deps.jobTypes, table: deps.jobTypeTable })
  }, { prefix: '/v1' })
  return app
}
