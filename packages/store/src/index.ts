export { DashboardLogins } from './access/dashboard-logins.ts'
export { EntryLocks } from './access/entry-locks.ts'
export { McpSessions, type McpSessionChange, type McpSessionState } from './access/mcp-sessions.ts'
export { RateLimit } from './access/rate-limit.ts'
export { maxStoredKeys, StoredKeys, type FoundKey, type ListedKey } from './access/stored-keys.ts'
export { keyPart } from './access/key-part.ts'
export { StreamTickets } from './access/stream-tickets.ts'
export { checkRedis, reportRedis } from './redis/checks/redis-check.ts'
export { RedisGuard, UnsafeRedisError } from './redis/checks/redis-guard.ts'
export { Replicas, ReplicasMissingError, countReplicas, type WantedReplicas } from './redis/checks/replicas.ts'
export { BatchedScript, eachCall, allCalls, type ScriptCall, type ScriptRun, type EachCall } from './redis/commands/batched-script.ts'
export { pipelined } from './redis/commands/pipelined.ts'
export { takeTurn } from './redis/commands/turn.ts'
export { goOnWhenFull } from './redis/commands/when-full.ts'
export { connectRedis, isConnected } from './redis/connection.ts'
export { ForgetfulMap } from './redis/forgetful-map.ts'
export { fromRedis } from './redis/from-redis.ts'
export { ioredis, type Redis } from './redis/ioredis.ts'
export { idOf, newJobId, createdAt, jobIdPattern, firstIdAt } from './redis/job-id.ts'
export { ownerOf, type JobScope } from './redis/job-scope.ts'
export {
  internalName, keyPrefix, jobChannel, replyChannel, createdKey, approvedCallsKey, publicName, madePart, waitKey, callbackQueue, bulkKey,
  jobKey, queueKey, approvalEventsKey,
  queueStem, rerunsField, cancelChannel, jobPartKey, placeOfKey, alarmsKey, openCallbacksKey, dependentsKey, fairKey, qualifiedName,
  idempotencyKey, openJobsKey, openOwnersKey, queuesChannel, queuesKey, serialKey, serialToolsKey, statisticsKey, jobIdOfChannel, jobLogKey,
  outputKey, emptyQueuesKey, upkeepKey, tenantLineKey, tenantPlacesKey
} from './redis/names.ts'
export { mayBeThereSoon } from './redis/reconnects.ts'
export { required } from './redis/required.ts'
export { serverTime } from './redis/server-clock.ts'
export { listen, subscribe, unlisten } from './redis/subscription.ts'
export {
  RedisUnavailableError, whileAvailable, JobsUnknownError, mayRedisTakeItLater, RedisFullError, asRedisError
} from './redis/unavailable.ts'
export { CallCounter, type EndedCall } from './tables/call-counter.ts'
export { readSeries, readUsageName, seriesName, type Series } from './tables/call-series.ts'
export { quantile, Tally, type Histogram, type TallyRecord } from './tables/call-tally.ts'
export { ImportFaultTable, type SharedImportFault } from './tables/import-fault-table.ts'
export { JobTypeTable, type JobTypeOverride } from './tables/job-type-table.ts'
export { goneError, SessionLeases, type SessionStay } from './tables/session-leases.ts'
export { maxSessions, Sessions, type NewSession, type Session } from './tables/sessions.ts'
export { inventoryOf, ToolInventories, type ToolInventory } from './tables/tool-inventory.ts'
export { listWorkers, WorkerHeartbeat, type SeenWorker } from './tables/worker-records.ts'
