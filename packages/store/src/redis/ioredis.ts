import type * as IORedis from 'ioredis'
import { createRequire } from 'node:module'

/**
 * Loads a CommonJS module. `import` would parse all of its files once more, only to learn the names of its exports: half of
 * the time that it takes to load ioredis or BullMQ, in every process.
 */
export const load = createRequire(import.meta.url)

/** ioredis, the same copy that BullMQ uses. */
// eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- `require` knows no types.
export const ioredis = load('ioredis') as typeof IORedis

/** A connection to one server, also one that Sentinels found, or to a cluster. */
export type Redis = IORedis.Redis | IORedis.Cluster
