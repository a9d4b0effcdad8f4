import type { Redis as Server } from 'ioredis'
import type { Logger } from '@toolyard/runtime'
import { writableServers, type Redis } from '../connection.ts'
import { isRecent, oldestVersion } from '../server/find-server.ts'
import { isDenied, whileAvailable } from '../unavailable.ts'

/** The Redis that a connection leads to. */
export interface RedisReport {
  /** Such as `7.0.15`, or `valkey 8.1.1`; of a cluster's servers, the one that was asked first. */
  version: string
  /** Settings under which jobs or promises get lost: Toolyard refuses to work on them. */
  unsafe: string[]
  doubtful: string[]
}

/**
 * Reads the settings of Redis, of each master of a cluster. `INFO` alone is asked: `CONFIG` is often forbidden.
 *
 * @throws RedisUnavailableError
 */
export async function checkRedis (redis: Redis): Promise<RedisReport> {
  const reports = await whileAvailable(Promise.all(writableServers(redis).map(checkServer)))
  return {
    version: reports[0]?.version ?? 'unknown',
    unsafe: [...new Set(reports.flatMap(report => report.unsafe))],
    doubtful: [...new Set(reports.flatMap(report => report.doubtful))]
  }
}

export function reportRedis ({ version, unsafe, doubtful }: RedisReport, logger: Logger): void {
  if (unsafe.length > 0) logger.error({ version, unsafe, doubtful }, `Redis is not safe for jobs: ${[...unsafe, ...doubtful].join('; ')}`)
  else if (doubtful.length > 0) logger.warn({ version, doubtful }, `Redis could be set up better: ${doubtful.join('; ')}`)
  else logger.info({ version }, 'Redis is set up well')
}

async function checkServer (server: Server): Promise<RedisReport> {
  const [info, time] = await Promise.all([unlessDenied(server.info()), unlessDenied(server.time())])
  const field = (name: string): string | undefined => new RegExp(`^${name}:(\\S+)`, 'm').exec(info ?? '')?.[1]
  const valkey = field('valkey_version')
  const version = field('redis_version') ?? 'unknown'
  const policy = field('maxmemory_policy')
  return {
    version: valkey === undefined ? version : `valkey ${valkey}`,
    unsafe: [
      ...version !== 'unknown' && !isRecent(version) ? [`version ${version} is too old: ${oldestVersion} is the oldest that works`] : [],
      ...policy === undefined || policy === 'noeviction' ? [] : [`maxmemory-policy is ${policy}: Redis drops jobs when its memory is full; set it to noeviction`],
      ...time === undefined ? ['this user may not use TIME, by which all machines go: docs/redis.md has the rights that it needs'] : []
    ],
    doubtful: [
      ...info === undefined ? ['its settings are unknown: this user may not use INFO'] : [],
      ...field('aof_enabled') === '0' ? ['no append-only file: acknowledged jobs are lost when Redis crashes; set appendonly to yes'] : []
    ]
  }
}

/** What Redis answers; undefined where the user of the service may not ask. */
async function unlessDenied<T> (answer: Promise<T>): Promise<T | undefined> {
  return await answer.catch((error: unknown) => {
    if (isDenied(error)) return undefined
    throw error
  })
}
