import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { ensureRedisServer, startRedisServer, type RedisServer } from '@toolyard/store/server'
import { launchChild, type ChildOptions, type ReadyChild } from '../supervision/child.ts'
import type { Service } from '../supervision/supervisor.ts'
import { print } from '../terminal/terminal.ts'

/** The programs of the HTTP service and the worker. */
export interface Entries {
  api: string
  worker: string
}

/** Where the packages keep their programs. */
export function findEntries (): Entries {
  const { resolve } = createRequire(import.meta.url)
  const entry = (name: string): string => join(dirname(resolve(name)), 'server.js')
  return { api: entry('@toolyard/api'), worker: entry('@toolyard/worker') }
}

/** The embedded Redis, with its data in `dir`; installs a server program when there is none. */
export async function redisService (dir: string, env: NodeJS.ProcessEnv): Promise<Service<RedisServer>> {
  const { path } = await ensureRedisServer({ env, say: print })
  return { name: 'redis', launch: () => startRedisServer({ binary: path, dir, aof: true }) }
}

/** The HTTP service. */
export function childService (options: ChildOptions): Service<ReadyChild> {
  return { name: options.name, launch: signal => launchChild(options, signal) }
}
