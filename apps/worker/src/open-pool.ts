import { storedJson } from '@toolyard/contract/terms'
import { createAnswerSchemas } from '@toolyard/manifests'
import { JobCanceller, JobQueues, OutputStore, QueueDirectory, StepJobs, WorkerPool } from '@toolyard/queue'
import { CallCounter, keyId, keyPart, SessionLeases, StoredKeys, ToolInventories, WorkerHeartbeat } from '@toolyard/store'
import {
  callbacksOf, onceAMinute, ownerLimitsOf, permissionPolicyOf, retentionOf, sessionSettingsOf, tracesOf, type Settings
} from '@toolyard/runtime'
import { openTracer, type Tracer } from '@toolyard/runtime/traces'
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { hostname, availableParallelism, loadavg } from 'node:os'
import { createHandler } from './job/handler.ts'
import { createSecretMask } from './job/secret-mask.ts'
import { SessionWorkspaces } from './job/session-workspaces.ts'
import { Shortages } from './job/shortages.ts'
import { ToolVersions } from './job/tool-versions.ts'
import { createStepsOf } from './job/workflow-steps.ts'
import type { ToolParts, WorkerTools } from './open-tools.ts'

/** It takes jobs and runs them; nothing of it has begun. */
interface OpenPool {
  pool: WorkerPool
  heartbeat: WorkerHeartbeat
  queues: JobQueues
  counter: CallCounter
  sessions: SessionWorkspaces
  shortages: Shortages
  tracer: Tracer | undefined
}

/** Makes the pool of a worker's places, and what its runs stand on. */
export async function openPool (
  settings: Settings,
  { tools, sandbox, executors, jobTypes, secrets }: WorkerTools,
  { redis, subscriber, metrics, logger }: Omit<ToolParts, 'env'>
): Promise<OpenPool> {
  const callbacks = callbacksOf(settings)
  const retention = retentionOf(settings)
  const permissions = permissionPolicyOf(settings)
  const queues = new JobQueues(redis, new QueueDirectory(redis, settings.MAX_QUEUES), retention, {
    queueDepth: settings.MAX_QUEUE_DEPTH, perOwner: ownerLimitsOf(settings).maxJobs
  })
  const stepsOf = createStepsOf({
    registry: tools.current,
    jobTypes,
    permissions,
    toolTimeoutSec: settings.TOOL_TIMEOUT_SEC,
    policy: () => tools.current().policy,
    jobs: new StepJobs({ redis, queues, outputs: new OutputStore(redis, retention), canceller: new JobCanceller(redis, queues) })
  })
  const inventories = new ToolInventories(redis)
  const versions = new ToolVersions(tools, inventories)
  const tracer = await openTracer(tracesOf(settings, 'worker'), message => { logger.warn({ cause: message }, 'traces: spans could not be sent') })
  const id = randomUUID()
  const counter = new CallCounter(redis, error => { logger.warn({ err: error }, 'Redis: statistics were not written') })
  const sessions = new SessionWorkspaces({ leases: new SessionLeases(redis), places: sessionSettingsOf(settings), logger })
  const storedKeys = new StoredKeys(redis)
  const shortages = new Shortages({ tryStart: () => executors.tryStart(), logger })
  const pool: WorkerPool = new WorkerPool({
    name: id,
    redis,
    subscriber,
    retention,
    queues: settings.WORKER_QUEUES,
    concurrency: settings.WORKER_CONCURRENCY,
    totalConcurrency: settings.WORKER_TOTAL_CONCURRENCY,
    maxRunning: ownerLimitsOf(settings).maxRunning,
    replicas: settings.REDIS_WAIT_REPLICAS,
    mayTake: () => shortages.current === undefined && !heartbeat.isDrained,
    isSerial: tool => tools.current().get(tool)?.tool.serial === true,
    handle: createHandler({
      tools: versions,
      jobTypes,
      executors,
      permissions,
      sandbox,
      sessions,
      keyPartOf: async name => {
        const key = await storedKeys.named(name)
        return key === undefined ? '' : keyPart(keyId(key.digest), key)
      },
      answerSchemas: createAnswerSchemas(),
      shortages,
      stepsOf,
      logger,
      metrics: metrics.jobs,
      counter,
      mask: createSecretMask(secrets),
      tracer
    }),
    approvalUrl: settings.APPROVAL_CALLBACK_URL,
    // The HTTP client is loaded only where callbacks are sent.
    callbacks: callbacks.kind === 'none'
      ? undefined
      : { attempts: callbacks.attempts, send: (await import('./callbacks/sender.ts')).createCallbackSender(callbacks), onSent: metrics.callbacks.sent },
    onError: onceAMinute((error, queue) => { logger.warn({ err: error, queue }, 'queue') })
  })
  metrics.places(() => pool.places)
  const { level, missing } = sandbox.report
  const { version } = storedJson<{ version: string }>(await readFile(new URL('../package.json', import.meta.url), 'utf8'))
  const identity = { id, version, host: hostname(), queues: settings.WORKER_QUEUES, sandbox: { level, missing } }
  const heartbeat = new WorkerHeartbeat(redis, id, async () => {
    await inventories.store(versions.inventory)
    const { current: shortage } = shortages
    return { ...identity, tools: versions.inventory.id, places: pool.places, load: machineLoad(), shortage, ran: counter.total }
  }, error => { logger.warn({ err: error }, 'Redis: the record of this worker was not written') })
  return { pool, heartbeat, queues, counter, sessions, shortages, tracer }
}

let memoryBytes = 0

/** How busy the machine is, and the memory of this process. */
function machineLoad (): { average: number, processors: number, memoryBytes: number } {
  try {
    memoryBytes = process.memoryUsage.rss()
  } catch {
    // It is read from a file: a worker that is out of descriptors tells what it had last.
  }
  return { average: loadavg()[0] ?? 0, processors: availableParallelism(), memoryBytes }
}
