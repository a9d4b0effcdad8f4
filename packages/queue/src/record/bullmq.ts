import type * as BullMQ from 'bullmq'
import { createRequire } from 'node:module'

/** Loads a CommonJS module: as for ioredis (packages/store), `import` would take twice as long. */
export const load = createRequire(import.meta.url)

/** BullMQ's classes; their types are imported from the package itself. */
// eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- `require` knows no types.
export const bullmq = load('bullmq') as typeof BullMQ
