import {
  Approvals, CallStatistics, CompletionWaiter, countQueues, FinishedJobs, IdempotencyStore, JobCanceller, JobLister, JobLogs, JobQueues,
  JobReader, LargeWrites, JobWatch, OutputStore, QueueDirectory
} from '@toolyard/queue'
import {
  ChangeTrail, connectRedis, isConnected, McpSessions, openSecrets, RedisGuard, RedisUnavailableError, Replicas, reportRedis,
  SessionLeases, Sessions, StoredKeys, StreamTickets, type Redis
} from '@toolyard/store'
import { ownerLimitsOf, redisTargetOf, retentionOf, sealKeysOf, type Logger, type Settings } from '@toolyard/runtime'
import type { ApiDeps } from './app.ts'
import { openWorkerControl } from './routes/operation/workers.ts'

/** How long the start waits for Redis, in milliseconds; without it the API serves what needs none, and 503. */
const connectMs = 2_000

/** The API's part of Redis: jobs, keys, sessions. */
interface OpenStore {
  commands: Redis
  subscriber: Redis
  directory: QueueDirectory
  leases: SessionLeases
  guard: RedisGuard
  deps: StoreDeps
  start: () => Promise<void>
  close: () => Promise<void>
}

type StoreDeps = Omit<
  ApiDeps, 'catalog' | 'jobTypes' | 'jobTypeTable' | 'bulk' | 'metrics' | 'tracer' | 'draining' | 'stopping' | 'ending'
>

/** Opens the connections to Redis, and what stands on them. */
export function openStore (settings: Settings, logger: Logger): OpenStore {
  const target = redisTargetOf(settings)
  const commands = connectRedis(target, 'request', error => { logger.warn({ err: error }, 'Redis: connection for commands') })
  const subscriber = connectRedis(target, 'subscriber', error => { logger.warn({ err: error }, 'Redis: connection for events') })
  const directory = new QueueDirectory(commands, settings.MAX_QUEUES)
  const retention = retentionOf(settings)
  const replicas = new Replicas(commands, settings.REDIS_WAIT_REPLICAS)
  const large = new LargeWrites()
  const queues = new JobQueues(commands, directory, retention, {
    queueDepth: settings.MAX_QUEUE_DEPTH, perOwner: ownerLimitsOf(settings).maxJobs, replicas, large
  })
  const outputs = new OutputStore(commands, retention)
  const waiter = new CompletionWaiter(commands, subscriber)
  const watch = new JobWatch(commands, subscriber)
  const jobs = new JobReader({ redis: commands, directory, queues, outputs })
  const canceller = new JobCanceller(commands, queues)
  const storedKeys = new StoredKeys(commands, replicas)
  storedKeys.listen(subscriber)
  const [sessions, leases] = [new Sessions(commands, replicas), new SessionLeases(commands)]
  sessions.listen(subscriber)
  const guard = new RedisGuard(commands, { allowUnsafe: settings.ALLOW_UNSAFE_REDIS, onReport: report => { reportRedis(report, logger) } })
  return {
    commands,
    subscriber,
    directory,
    leases,
    guard,
    deps: {
      queues,
      waiter,
      outputs,
      jobs,
      logs: new JobLogs(commands, outputs.reads),
      watch,
      tickets: new StreamTickets(commands),
      lister: new JobLister({ redis: commands, directory, queues }),
      changes: new ChangeTrail(commands),
      canceller,
      approvals: new Approvals({ redis: commands, replicas, queues, jobs, canceller }),
      finished: new FinishedJobs({ redis: commands, queues, canceller, retention }),
      idempotency: new IdempotencyStore(commands, replicas, large),
      mcpSessions: new McpSessions(commands, subscriber),
      storedKeys,
      secrets: openSecrets(commands, sealKeysOf(settings), replicas),
      sessions,
      statistics: new CallStatistics(commands),
      queueControl: { count: async () => await countQueues(commands, directory), pause: queues.pause.bind(queues) },
      workerControl: openWorkerControl(commands)
    },
    start: async () => {
      if (await isConnected(commands, connectMs)) await guard.admit().catch(unlessAway)
      await replicas.start()
      leases.start(subscriber)
      void waiter.start().catch((error: unknown) => { logger.error({ err: error }, 'Redis: could not subscribe') })
    },
    close: async () => {
      waiter.stop()
      watch.stop()
      leases.stop()
      replicas.stop()
      await queues.close()
      commands.disconnect()
      subscriber.disconnect()
    }
  }
}

/** Redis may go away again at any moment; it is checked when it is back. */
function unlessAway (error: unknown): void {
  if (!(error instanceof RedisUnavailableError)) throw error
}
