import { limits } from '@toolyard/contract'
import type {
  Approvals, CompletionWaiter, FinishedJobs, JobCanceller, JobLister, JobLogs, JobQueues, JobReader, JobWatch, IdempotencyStore, OutputStore
} from '@toolyard/queue'
import type { DashboardLogins, JobTypeTable, McpSessions, RateLimit, Sessions, StoredKeys, StoredSecrets, StreamTickets } from '@toolyard/store'
import { dropUnread, takeTurns, type Callbacks, type CallMetrics, type Logger, type MetricsRegistry, type NoCallbacks, type ReadinessCheck, type LimitOf, type SessionSettings, type TokenSettings } from '@toolyard/runtime'
import type { Tracer } from '@toolyard/runtime/traces'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { type FastifyBaseLogger } from 'fastify'
import type { IncomingMessage } from 'node:http'
import { createSessionAccess } from './access/session-access.ts'
import { AccessTokens } from './access/access-tokens.ts'
import { Logins } from './access/logins.ts'
import { createCallbackAccess } from './invocation/callback-access.ts'
import { dashboardRoutes, type DashboardOptions } from './dashboard/routes.ts'
import { BatchInvoker } from './invocation/batch/batch-invoker.ts'
import { JobAdmission } from './invocation/job-admission.ts'
import { JobTools } from './invocation/batch/job-tools.ts'
import { KeptOutputs } from './outputs/kept-outputs.ts'
import { JobSubmitter } from './invocation/job-submitter.ts'
import { ToolInvoker } from './invocation/batch/tool-invoker.ts'
import { ReturnedImages } from './files/returned-images.ts'
import { docsRoutes } from './docs/routes.ts'
import { listRoutes } from './openapi/route-list.ts'
import type { EventLoopWatch } from './plugins/load/event-loop-watch.ts'
import type { JobTypes } from './catalog/job-types.ts'
import { resourceMetadataRoutes } from './mcp/resource-metadata.ts'
import { mcpRoutes } from './mcp/routes.ts'
import { auth } from './plugins/auth.ts'
import { changeTrail } from './plugins/change-trail.ts'
import { ClientErrors, hostIsOptional } from './plugins/client-errors.ts'
import { errors, sendError } from './plugins/errors.ts'
import { jsonBody } from './plugins/body/json-body.ts'
import { knownQuery } from './plugins/known-query.ts'
import { lazySerializers } from './plugins/lazy-serializers.ts'
import { overload } from './plugins/load/overload.ts'
import { rateLimit } from './plugins/load/rate-limit.ts'
import { newRequestId, requestIds } from './plugins/request-id.ts'
import { requestTraces } from './plugins/request-trace.ts'
import { listenedAt, mcpUrl, pathOf, withoutBase } from './plugins/site.ts'
import { stopping } from './plugins/load/stopping.ts'
import { unsentAnswers } from './plugins/load/unsent-answers.ts'
import type { App } from './plugins/typed-app.ts'
import { RequestLog } from './request-log.ts'
import { agentToolRoutes } from './routes/agent-tools.ts'
import { authRoutes } from './routes/access/auth.ts'
import { consoleRoutes } from './routes/console.ts'
import { fileRoutes, type FileRoutesOptions } from './routes/files.ts'
import { healthRoutes, type ListWorkers } from './routes/health.ts'
import { jobLogRoutes } from './routes/jobs/job-logs.ts'
import { jobStreamRoutes } from './routes/jobs/job-stream.ts'
import { jobTypeRoutes } from './routes/jobs/job-types.ts'
import { approvalRoutes } from './routes/approvals.ts'
import { JobLists } from './routes/jobs/job-lists.ts'
import { jobRoutes } from './routes/jobs/jobs.ts'
import { keyRoutes } from './routes/access/keys.ts'
import { loginRoutes } from './routes/access/login.ts'
import { metricsRoute } from './routes/metrics.ts'
import { operationRoutes, type OperationDeps } from './routes/operation/operation.ts'
import { openApiRoutes } from './routes/openapi.ts'
import { registryRoutes } from './routes/registry.ts'
import { sessionRoutes } from './routes/sessions.ts'
import { sseTokenRoutes } from './routes/access/sse-token.ts'
import { toolRoutes } from './routes/tools.ts'
import { EventStreams } from './streams/event-streams.ts'
import { JobStreams } from './streams/job-streams.ts'
import type { KeyRing } from './access/key-ring.ts'
import { StreamTicketIssuer } from './access/stream-ticket-issuer.ts'
import type { ToolCatalog } from './catalog/tool-catalog.ts'

export interface ApiDeps extends OperationDeps {
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
  approvals: Approvals
  finished: FinishedJobs
  idempotency: IdempotencyStore
  mcpSessions: McpSessions
  storedKeys: StoredKeys
  secrets: StoredSecrets | undefined
  sessions: Sessions
  metrics: CallMetrics
  jobTypes: JobTypes
  /** The job types that were switched, of which `jobTypes` makes its answers. */ jobTypeTable: JobTypeTable
  /** Makes spans of requests and calls; undefined without traces. */
  tracer?: Tracer | undefined
  /** Aborted when the process has been told to stop: it serves for a while yet, and keeps no connection open. */
  draining: AbortSignal
  /** Aborted when that while is over: new requests get a 503. */
  stopping: AbortSignal
  /** Aborted when its grace time is over: requests that still wait are answered with what is there. */
  ending: AbortSignal
}

interface ApiOptions {
  keys: KeyRing
  /** Every request counts as an admin's. */
  authDisabled: boolean
  /** Whose access tokens `/mcp` takes; absent for keys alone. */
  tokens?: TokenSettings | undefined
  sessions: SessionSettings
  /** The quotas of a tenant's sessions together; 0 for any number. */
  maxSessionBytes: LimitOf
  files: Omit<FileRoutesOptions, 'keys' | 'ending'>
  /** Event streams that may be open at once. */
  maxStreams: number
  heartbeatMs: number
  /** Requests of a key within a minute; absent for any number. */
  rateLimit?: RateLimit
  /** Tells when requests that make work get a 503. */
  eventLoop: EventLoopWatch
  /** How long a stream ticket is valid, in seconds. */
  ticketTtlSec: number
  readiness: Readonly<Record<string, ReadinessCheck>>
  /** Whom jobs may call back, or what is missing for it. */
  callbacks: Callbacks | NoCallbacks
  workers: ListWorkers
  /** How long a finished job is kept, in seconds. */
  jobRetentionSec: number
  /** Served at `/metrics` to admin keys; absent when a port of its own serves them. */
  metrics?: MetricsRegistry
  /** Served at `/dashboard` to admins; absent when it is switched off. */
  dashboard?: DashboardOptions['board']
  logins: DashboardLogins
  consoleDir: string
  /** Path under which a reverse proxy serves all of this, such as `/toolyard`; empty for none. */
  basePath: string
  /** The URL of `/mcp` as clients know it; undefined where the operator has not said it. */
  mcpUrl?: string | undefined
  /** Proxies whose `X-Forwarded-*` headers count: addresses, ranges, or `loopback` and the like. */
  trustProxy: readonly string[]
  logger?: Logger
}

/** Time for its headers, and between two looks for clients that are too slow. */
const slowClients = { headersTimeout: 10_000, connectionsCheckingInterval: 5_000 }

/** Builds the HTTP service; it listens to nothing yet. */
export function buildApp (deps: ApiDeps, options: ApiOptions): App {
  const logger: FastifyBaseLogger | undefined = options.logger
  const clientErrors = new ClientErrors()
  const app = Fastify({
    ...(logger === undefined ? {} : { loggerInstance: logger }),
    logController: new RequestLog(),
    genReqId: newRequestId,
    bodyLimit: limits.bodyBytes,
    schemaController: { compilersFactory: { buildSerializer: lazySerializers } },
    // Names of tools may be long, and a percent-encoded character counts three times. Node.js bounds the whole path.
    routerOptions: { maxParamLength: 16_384 },
    http: { ...slowClients, ...hostIsOptional },
    return503OnClosing: false,
    trustProxy: options.trustProxy.length > 0 && [...options.trustProxy],
    // Some proxies take the path off, others leave it on.
    rewriteUrl: ({ url = '/' }: IncomingMessage) => mcpUrl(withoutBase(pathOf(url), options.basePath)),
    clientErrorHandler: clientErrors.answer,
    frameworkErrors: (error, request, reply) => { sendError(error, request, reply) }
  }).withTypeProvider<TypeBoxTypeProvider>()
  const routes = listRoutes(app)
  clientErrors.watch(app)
  for (const bound of [takeTurns, dropUnread]) bound(app.server)
  const streams = new EventStreams({ max: options.maxStreams, heartbeatMs: options.heartbeatMs, keys: options.keys })
  const jobStreams = new JobStreams({
    jobs: deps.jobs,
    logs: deps.logs,
    watch: deps.watch,
    streams,
    stopping: deps.stopping,
    onError: error => { app.log.warn({ err: error }, 'a job stream waits') }
  })
  const ticketIssuer = new StreamTicketIssuer(deps.tickets, options.keys, options.ticketTtlSec)
  const logins = new Logins(options.logins, options.keys, options.basePath)
  const admission = new JobAdmission(deps.queues, deps.idempotency)
  const checks = { keyPartOf: options.keys.partOf.bind(options.keys), admission, checkCallback: createCallbackAccess(options.callbacks) }
  const kept = new KeptOutputs(deps.outputs, deps.logs)
  app.addHook('onClose', async () => { await kept.close() })
  const jobTools = new JobTools({ jobs: deps.jobs, watch: deps.watch, canceller: deps.canceller, kept, catalog: deps.catalog })
  const invoker = new BatchInvoker({ ...deps, ...checks, jobTools, checkSession: createSessionAccess(deps.sessions, options.sessions) })
  const submitter = new JobSubmitter({ ...deps, ...checks, checkSession: createSessionAccess(deps.sessions, options.sessions) })
  app.addHook('onResponse', async (request, reply) => {
    deps.metrics.requested({ method: request.method, route: request.routeOptions.url ?? '(none)', status: reply.statusCode, seconds: reply.elapsedTime / 1_000 })
  })
  void app.register(requestTraces, { tracer: deps.tracer })
  void app.register(errors, { routes })
  for (const plugin of [requestIds, unsentAnswers]) void app.register(plugin)
  void app.register(stopping, { draining: deps.draining, stopping: deps.stopping })
  void app.register(jsonBody)
  void app.register(healthRoutes, { readiness: options.readiness, workers: options.workers })
  const { metrics, dashboard, sessions: { isRequired: sessionsRequired } } = options
  void app.register(async own => {
    await own.register(auth, { keys: options.keys, disabled: options.authDisabled, tickets: ticketIssuer })
    if (metrics !== undefined) await own.register(metricsRoute, { metrics })
    await own.register(openApiRoutes, { catalog: deps.catalog, routes, authDisabled: options.authDisabled, basePath: options.basePath })
  })
  void app.register(docsRoutes, { basePath: options.basePath })
  void app.register(consoleRoutes, { dir: options.consoleDir, basePath: options.basePath })
  if (dashboard !== undefined) {
    void app.register(dashboardRoutes, {
      prefix: '/dashboard', board: dashboard, keys: options.keys, logins, authDisabled: options.authDisabled, basePath: options.basePath
    })
  }
  const images = new ReturnedImages(options.files.sessionFiles)
  const toolInvoker = new ToolInvoker(invoker, deps.outputs, name => {
    const registered = deps.catalog.registry.get(name)
    if (registered === undefined) return 1
    return deps.jobTypes.limitsOf(registered.tool, {}).maxAttempts
  })
  const tokens = options.tokens && new AccessTokens(options.tokens, () => `${listenedAt(app)}${options.basePath}/mcp`, options.keys, error => {
    app.log.warn({ err: error }, 'an access token could not be checked')
  })
  void app.register(resourceMetadataRoutes, { tokens })
  void app.register(async mcp => {
    await mcp.register(overload, { eventLoop: options.eventLoop })
    await mcp.register(auth, { keys: options.keys, disabled: options.authDisabled, tickets: ticketIssuer, tokens })
    if (options.rateLimit !== undefined) await mcp.register(rateLimit, { limit: options.rateLimit })
    const { mcpUrl, basePath, jobRetentionSec: retentionSec } = options
    const mcpOptions = { sessions: deps.mcpSessions, sessionsRequired, retentionSec, images, mcpUrl, basePath }
    await mcp.register(mcpRoutes, { ...deps, ...mcpOptions, tokens, invoker: toolInvoker, streams })
  })
  void app.register(async v1 => {
    await v1.register(overload, { eventLoop: options.eventLoop })
    await v1.register(auth, { keys: options.keys, disabled: options.authDisabled, tickets: ticketIssuer, logins })
    if (options.rateLimit !== undefined) await v1.register(rateLimit, { limit: options.rateLimit })
    await v1.register(knownQuery)
    await v1.register(changeTrail, { trail: deps.changes })
    await v1.register(agentToolRoutes, { catalog: deps.catalog, invoker, streams, logs: deps.logs, images, ending: deps.ending })
    await toolRoutes(v1, toolInvoker, deps.ending, options.basePath)
    await registryRoutes(v1, deps.catalog, deps.jobTypes)
    await v1.register(authRoutes)
    await loginRoutes(v1, logins, options.authDisabled)
    const lists = new JobLists(deps.lister)
    await v1.register(jobRoutes, { ...deps, submitter, lists })
    await v1.register(approvalRoutes, { ...deps, keys: options.keys, lists })
    await v1.register(jobLogRoutes, { jobs: deps.jobs, logs: deps.logs })
    await v1.register(jobStreamRoutes, { jobs: deps.jobs, streams: jobStreams })
    await v1.register(sseTokenRoutes, { ticketIssuer })
    await v1.register(operationRoutes, deps)
    await keyRoutes(v1, options.keys, deps.storedKeys, deps.secrets)
    await v1.register(fileRoutes, { ...options.files, keys: options.keys, ending: deps.ending })
    await sessionRoutes(v1, deps.sessions, options.sessions, options.maxSessionBytes)
    await jobTypeRoutes(v1, deps.catalog, deps.jobTypes, deps.jobTypeTable)
  }, { prefix: '/v1' })
  return app
}
