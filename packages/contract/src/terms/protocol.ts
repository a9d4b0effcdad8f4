/**
 * The number of what this release writes to Redis and expects there. A job carries the number of the process that made
 * it, and a worker leaves a job with a higher number than its own to newer workers.
 *
 * Raise it when a worker of the last release would do harm with a job of this one: run it twice, lose it, or misread it.
 * A new release must still understand the jobs of the last one.
 */
export const protocol = 4
