import type * as BullMQ from 'bullmq'
import type * as IORedis from 'ioredis'
import { createRequire } from 'node:module'

/*
 * BullMQ and ioredis are CommonJS. `import` would parse all of their files once more, only to learn the names of their
 * exports: half of the time that it takes to load them, in every process.
 */
const load = createRequire(import.meta.url)

/** BullMQ's classes; their types are imported from the package itself. */
export const bullmq = load('bullmq') as typeof BullMQ

/** ioredis, the same copy that BullMQ uses. */
export const ioredis = load('ioredis') as typeof IORedis

/**
 * The Lua of one of BullMQ's scripts, without what it adds to the stream of the queue's events. Nobody here reads that:
 * it costs a fifth of a script's time, and the outputs of tools would be in it, and in the file that Redis appends to,
 * once more.
 *
 * @param keys how many keys it takes; part of the file's name, so that another number is noticed
 */
export function bullmqScript (name: string, keys: number): string {
  const scripts = load(`bullmq/dist/cjs/scripts/${name}-${keys}.js`) as Record<string, { content: string }>
  const script = scripts[name]
  if (script === undefined) throw new Error(`BullMQ has no script '${name}'`)
  return `local function untold () end\n${script.content.replaceAll(/rcall\("(XADD|XTRIM)"/g, 'untold("$1"')}`
}

/** A connection: to one server, be it found by Sentinels, or to a cluster. */
export type Redis = IORedis.Redis | IORedis.Cluster
