import { createHash } from 'node:crypto'

export const keyPrefix = 'toolyard'

/**
 * BullMQ's name for a public queue. BullMQ refuses `:` in names, so it becomes `~`, which no public name
 * contains; the braces put all keys of one queue into one slot of a Redis Cluster.
 */
export function internalName (queue: string): string {
  return `{${queue.replaceAll(':', '~')}}`
}

/** The way back from `internalName`. */
export function publicName (internal: string): string {
  return internal.slice(1, -1).replaceAll('~', ':')
}

/** A queue's name as BullMQ knows it beside its prefix: what all keys of the queue begin with. */
export function qualifiedName (queue: string): string {
  return `${keyPrefix}:${internalName(queue)}`
}

/** The keys of a queue's lists and of its jobs begin with it. */
export function queueStem (queue: string): string {
  return `${qualifiedName(queue)}:`
}

/** A list, set or hash of a queue: `active`, say. */
export function queueKey (queue: string, part: string): string {
  return queueStem(queue) + part
}

/** The key of a job's hash, and the stem of what is stored beside it. */
export function jobKey (queue: string, jobId: string): string {
  return queueStem(queue) + jobId
}

/** A job's lock, and BullMQ's keys for its steps. */
export function jobPartKey (queue: string, jobId: string, part: 'lock' | 'dependencies' | 'processed' | 'failed'): string {
  return `${jobKey(queue, jobId)}:${part}`
}

/** The field of a job's record that says how often an operator has run it again. */
export const rerunsField = 'reruns'

/** The end of a key beside a job that was made for an `Idempotency-Key`. It is kept as long as that, also when the job is gone. */
export const madePart = ':made'

/** The way back from `jobKey`. */
export function placeOfKey (key: string): { queue: string, id: string } {
  const [, internal = '', id = ''] = key.split(':')
  return { queue: publicName(internal), id }
}

export const queuesKey = `${keyPrefix}:queues`

/** The channel on which workers hear of queues that are new. */
export const queuesChannel = `${keyPrefix}:queues`

/** The marker by which a process ends its own wait for jobs. */
export function waitKey (id: string): string {
  return `${keyPrefix}:wait:${id}`
}

/** Since when queues have been without a job, in milliseconds since 1970. */
export const emptyQueuesKey = `${keyPrefix}:queues:empty`

/** Held by the process whose turn it is to do a task of the upkeep. */
export function upkeepKey (task: string): string {
  return `${keyPrefix}:upkeep:${task}`
}

/** The channel on which one API process gets the ends of the jobs that it waits for. */
export function replyChannel (processId: string): string {
  return `${keyPrefix}:reply:${processId}`
}

/** A queue's jobs by their ids, which are in the order of creation. */
export function createdKey (queue: string): string {
  return queueKey(queue, 'created')
}

/** The call of each tool that was approved last, by tenant and tool. */
export const approvedCallsKey = `${keyPrefix}:approved`

/** The last turns that API keys have taken in a queue, by priority. */
export function fairKey (queue: string, priority: number): string {
  return queueKey(queue, `turns:${priority}`)
}

/** The jobs that an owner has made and that may not have ended. */
export function openJobsKey (owner: string): string {
  return `${keyPrefix}:open:${owner}`
}

/** The calls of a tenant that run. */
export function tenantPlacesKey (tenant: string): string {
  return `${keyPrefix}:running:${tenant}`
}

/** The jobs of a tenant that wait for a place among those that run, in the slot of `tenantPlacesKey`. */
export function tenantLineKey (tenant: string): string {
  return `${keyPrefix}:line:{${tenantPlacesKey(tenant)}}`
}

/** The owners that may have jobs in their `openJobsKey`. */
export const openOwnersKey = `${keyPrefix}:open-keys`

/** Who waits for a job: members are an id and a queue. */
export function dependentsKey (queue: string, jobId: string): string {
  return `${jobKey(queue, jobId)}:dependents`
}

/** When jobs of a queue that wait for their steps are to be woken at the latest. */
export function alarmsKey (queue: string): string {
  return queueKey(queue, 'alarms')
}

/** `digest` is that of an `Idempotency-Key` and its owner: a tenant, or an API key without one. */
export function idempotencyKey (digest: string): string {
  return `${keyPrefix}:once:${digest}`
}

/** The lock of a file of a workspace. */
export function entryLockKey (digest: string): string {
  return `${keyPrefix}:file:${digest}`
}

/** Serial tools that have jobs, or had some a while ago. */
export const serialToolsKey = `${keyPrefix}:serial-tools`

/**
 * Keys of a serial tool: the `line` of its jobs, the `gate`, whose turn it was last (`turns`), and the `queues`
 * that have jobs of it. They are in one slot of a Redis Cluster.
 */
export function serialKey (tool: string, what: 'line' | 'gate' | 'turns' | 'queues'): string {
  return `${keyPrefix}:serial:{${tool}}:${what}`
}

/** `id` is its own part of the session's id. */
export function mcpSessionKey (id: string): string {
  return `${keyPrefix}:mcp:${id}`
}

/** The sessions of MCP clients of one key that something is kept of, by when it is forgotten. */
export function mcpSessionsKey (owner: string): string {
  return `${keyPrefix}:mcp-sessions:${createHash('sha256').update(owner).digest('base64url')}`
}

/** The channel on which all API processes get what a client says about its session or a call of it. */
export const mcpChannel = `${keyPrefix}:mcp`

/** The job types that were switched. */
export const jobTypesKey = `${keyPrefix}:job-types`

/** The channel on which all processes hear that a job type was switched. */
export const jobTypesChannel = `${keyPrefix}:job-types`

export const importFaultsKey = `${keyPrefix}:import-faults`

/** The channel of its changes, for all processes. */
export const importFaultsChannel = `${keyPrefix}:import-faults`

/** The queue of callbacks: no public name has a `+`, so that no caller reaches it. */
export const callbackQueue = '+callbacks'

/** Jobs that have a callback and may have ended: `<id> <queue>`. In the slot of callbacks: who removes one sees whether they are there. */
export const openCallbacksKey = `${queueStem(callbackQueue)}open`

/** Owners of events for approvers, by their last turn; with an owner its events, `<id> <queue> <event>` and `own` for a callback. */
export const approvalEventsKey = (owner?: string): string => `${queueStem(callbackQueue)}approvals${owner === undefined ? '' : `:${owner}`}`

/** The channel on which all workers hear of cancelled jobs. */
export const cancelChannel = `${keyPrefix}:cancel`

/** The workers: when each was `seen`, which have `left`, their `records`, which are `drained`; in one slot of a Redis Cluster. */
export function workersKey (what: 'seen' | 'left' | 'records' | 'drained'): string {
  return `${keyPrefix}:{workers}:${what}`
}

/**
 * Counts of calls: of a `minute`, and of an `hour` with its `usage` and `processor` time, each by its number since
 * 1970; the `jobs` that ran and waited in the minutes of an hour; the `series` that there are, and how many each of their
 * `owners` has. All of it is in one slot of a Redis Cluster.
 */
export function statisticsKey (what: 'minute' | 'hour' | 'usage' | 'processor' | 'jobs' | 'series' | 'owners', number?: number): string {
  return `${keyPrefix}:{statistics}:${what}${number === undefined ? '' : `:${number}`}`
}

/** The versions of the tools that some workers have, by the tools' names. */
export function inventoryKey (id: string): string {
  return `${keyPrefix}:inventory:${id}`
}

/** The Redis stream that is a job's log. */
export function jobLogKey (queue: string, jobId: string): string {
  return `${jobKey(queue, jobId)}:log`
}

/** A job's output, where that is too large for its record. */
export function outputKey (queue: string, jobId: string): string {
  return `${jobKey(queue, jobId)}:output`
}

const jobChannelPrefix = `${keyPrefix}:job:`

/** The channel on which a job's changes are announced. */
export function jobChannel (jobId: string): string {
  return jobChannelPrefix + jobId
}

/** The way back from `jobChannel`; undefined for another channel. */
export function jobIdOfChannel (channel: string): string | undefined {
  return channel.startsWith(jobChannelPrefix) ? channel.slice(jobChannelPrefix.length) : undefined
}

/** Where the grant of a stream ticket is kept. */
export function streamTicketKey (digest: string): string {
  return `${keyPrefix}:ticket:${digest}`
}

/** The API keys in Redis: their `names`, and the stem of the records by digest. All of it is in one slot of a Redis Cluster. */
export function storedKeysKey (what: string): string {
  return `${keyPrefix}:{keys}:${what}`
}

/** The channel on which all API processes hear the digests of revoked keys. */
export const keysChannel = `${keyPrefix}:keys`

/** Bulk changes: `all` of them, the stem of their records and leases. All of it is in one slot of a Redis Cluster. */
export function bulkKey (what: string): string {
  return `${keyPrefix}:{bulk}:${what}`
}

/** Sessions: `all` ids, and the stem of their records, indexes and leases. All of it is in one slot of a Redis Cluster. */
export function sessionsKey (what: string): string {
  return `${keyPrefix}:{sessions}:${what}`
}

/** The channel on which all processes hear the ids of sessions that are removed. */
export const sessionsChannel = `${keyPrefix}:sessions`

/** Shared by the API processes for logins; all of it is in one slot of a Redis Cluster. */
export function dashboardKey (what: string): string {
  return `${keyPrefix}:{dashboard}:${what}`
}

/** In a cluster this key leads all processes to the same server, whose clock counts. Nothing is kept there. */
export const clockKey = `${keyPrefix}:clock`
