import { ensureRedisServer, startRedisServer, type RedisServer } from '@toolyard/store/server'
import { launchChild, type ChildOptions, type ReadyChild } from '../supervision/child.ts'
import type { Service } from '../supervision/supervisor.ts'
import { print } from '../terminal/terminal.ts'

/** The embedded Redis, with its data in `dir`; installs a server program when there is none. */
export async function redisService (dir: string, env: NodeJS.ProcessEnv): Promise<Service<RedisServer>> {
  const { path } = await ensureRedisServer({ env, say: print })
  return { name: 'redis', launch: () => startRedisServer({ binary: path, dir, aof: true }) }
}

export function childService (options: ChildOptions): Service<ReadyChild> {
  return { name: options.name, launch: signal => launchChild(options, signal) }
}
