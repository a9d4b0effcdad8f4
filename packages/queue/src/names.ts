/** Prefix of every Redis key that Toolyard makes. */
export const keyPrefix = 'toolyard'

/**
 * BullMQ's name for a public queue. BullMQ refuses `:` in names (X3), so it becomes `~`, which no public name
 * contains; the braces put all keys of one queue into one slot of a Redis Cluster.
 */
export function internalName (queue: string): string {
  return `{${queue.replaceAll(':', '~')}}`
}

/** The way back from `internalName`. */
export function publicName (internal: string): string {
  return internal.slice(1, -1).replaceAll('~', ':')
}

/** The key of a job's hash, and the stem of what is stored beside it. */
export function jobKey (queue: string, jobId: string): string {
  return `${keyPrefix}:${internalName(queue)}:${jobId}`
}

/** The set of known queues. */
export const queuesKey = `${keyPrefix}:queues`

/** The channel on which one API process hears of the jobs that it waits for. */
export function replyChannel (processId: string): string {
  return `${keyPrefix}:reply:${processId}`
}

/** A queue's jobs by their ids, which are in the order of creation. */
export function createdKey (queue: string): string {
  return `${keyPrefix}:${internalName(queue)}:created`
}

/** What an `Idempotency-Key` was used for; `digest` stands for the key and the name of the API key. */
export function onceKey (digest: string): string {
  return `${keyPrefix}:once:${digest}`
}

/** What a serial tool is run by: its `jobs` in order, and the `holder` that runs now. Both are in one slot of a Redis Cluster. */
export function serialKey (tool: string, what: 'jobs' | 'holder'): string {
  return `${keyPrefix}:serial:{${tool}}:${what}`
}

/** The job types that were switched. */
export const jobTypesKey = `${keyPrefix}:job-types`

/** The channel on which all processes hear that a job type was switched. */
export const jobTypesChannel = `${keyPrefix}:job-types`

/** The channel on which all workers hear of cancelled jobs. */
export const cancelChannel = `${keyPrefix}:cancel`

/** The Redis stream that is a job's log. */
export function jobLogKey (queue: string, jobId: string): string {
  return `${jobKey(queue, jobId)}:log`
}

const jobChannelPrefix = `${keyPrefix}:job:`

/** The channel on which a job's changes are told. */
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
