import { join } from 'node:path'
import type { Settings } from '@toolyard/runtime'
import type { ChildOptions, ReadyChild } from './child.ts'
import { LogFile } from './log-file.ts'
import { childService, redisService, type Entries } from './services.ts'
import { supervise, type Supervised, type SupervisorOptions } from './supervisor.ts'

/** What the parts of Toolyard are started with. */
export interface PartsOptions extends SupervisorOptions {
  directory: string
  env: NodeJS.ProcessEnv
  settings: Settings
  entries: Entries
  /** Kills the service and the worker at once while they stop. */
  force: AbortSignal
}

/** What stops the parts; filled while they start, so that a start that fails half-way can be undone. */
export type StopSteps = Array<() => Promise<unknown>>

/** What a part gets on top of SHUTDOWN_GRACE_SEC to end by itself, in milliseconds. */
const extraGraceMs = 3_000

/**
 * Starts the embedded Redis (unless REDIS_URL is set), then the HTTP service and a worker together.
 *
 * @param steps gets what stops them, the last started first
 * @param giveUp is called at the first failure
 * @returns where the HTTP service listens
 */
export async function startParts (options: PartsOptions, steps: StopSteps, giveUp: () => void): Promise<string> {
  const { directory, settings, entries } = options
  const env = { ...options.env }
  if (settings.REDIS_URL === undefined) {
    const redis = await supervise(await redisService(redisDirectory(directory), env), options)
    steps.unshift(redis.stop)
    env['REDIS_URL'] = redis.first.url
  }
  const starts = [startChild('api', entries.api, env, options), startChild('worker', entries.worker, env, options)] as const
  for (const start of starts) start.catch(giveUp)
  steps.unshift(() => Promise.all(starts.map(start => start.then(({ stop }) => stop(), () => undefined))))
  const [api] = await Promise.all(starts)
  return api.first.address ?? `http://${settings.HOST}:${settings.PORT}`
}

/** Where the embedded Redis keeps its data. */
export function redisDirectory (directory: string): string {
  return join(directory, '.toolyard/redis')
}

async function startChild (name: string, entry: string, env: NodeJS.ProcessEnv, options: PartsOptions): Promise<Supervised<ReadyChild>> {
  const { directory, settings, warn, force } = options
  const log = new LogFile(join(directory, `.toolyard/logs/${name}.log`))
  const child: ChildOptions = { name, entry, directory, env, log, warn, force, graceMs: settings.SHUTDOWN_GRACE_SEC * 1_000 + extraGraceMs }
  return await supervise(childService(child), options)
}
