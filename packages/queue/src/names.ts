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
