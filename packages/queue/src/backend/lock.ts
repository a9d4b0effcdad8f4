/** How long a job belongs to the worker or canceller that holds it, in milliseconds, unless it renews its lock. */
export const lockMs = 3_000
