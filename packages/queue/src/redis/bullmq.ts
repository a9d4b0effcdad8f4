import type * as BullMQ from 'bullmq'
import type * as IORedis from 'ioredis'
import { createRequire } from 'node:module'

/*
 * BullMQ and ioredis are CommonJS. `import` would parse all of their files once more, only to learn the names of their
 * exports: half of the time that it takes to load them, in every process.
 */

/** Loads a CommonJS module. */
export const load = createRequire(import.meta.url)

/** BullMQ's classes; their types are imported from the package itself. */
// eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- `require` knows no types.
export const bullmq = load('bullmq') as typeof BullMQ

/** ioredis, the same copy that BullMQ uses. */
// eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- `require` knows no types.
export const ioredis = load('ioredis') as typeof IORedis

/** A connection to one server, also one that Sentinels found, or to a cluster. */
export type Redis = IORedis.Redis | IORedis.Cluster
