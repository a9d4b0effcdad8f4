import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { asError, orElse, withoutUndefined } from '@toolyard/contract/terms'
import { SettingsError, type Settings } from '../settings.ts'
import type { HostPort } from '../variable.ts'

export interface RedisTarget {
  place:
    /** `redis://`, `rediss://` or `unix:/path/of/socket`; a user and password in it come before those beside it. */
    | { kind: 'server', url: string }
    | { kind: 'sentinels', nodes: readonly HostPort[], master: string, username?: string, password?: string }
    | { kind: 'cluster', nodes: readonly HostPort[] }
  username?: string
  password?: string
  /** Present when the connection is encrypted; texts in PEM, read whenever they are asked for. */
  tls?: { ca?: string, cert?: string, key?: string }
}

const places = ['REDIS_URL', 'REDIS_SENTINELS', 'REDIS_CLUSTER_NODES'] as const

/**
 * Where Redis is; undefined when no setting says so, which only `toolyard start` can do with.
 *
 * @throws SettingsError when two settings say so, or a certificate can't be read.
 */
export function findRedisTarget (settings: Settings): RedisTarget | undefined {
  const given = places.filter(name => settings[name] !== undefined)
  if (given.length > 1) throw new SettingsError([`${given.join(' and ')} are both set: Redis can be in one place only`])
  const place = placeOf(settings)
  if (place === undefined) return undefined
  const encrypted = settings.REDIS_TLS || settings.REDIS_URL?.startsWith('rediss://') === true
  return {
    place,
    ...(settings.REDIS_USERNAME === undefined ? {} : { username: settings.REDIS_USERNAME }),
    ...(settings.REDIS_PASSWORD === undefined ? {} : { password: settings.REDIS_PASSWORD }),
    ...(encrypted ? { tls: certificatesOf(settings) } : {})
  }
}

/** Where Redis is. @throws SettingsError also when no setting says so. */
export function redisTargetOf (settings: Settings): RedisTarget {
  const target = findRedisTarget(settings)
  if (target !== undefined) return target
  throw new SettingsError([
    'REDIS_URL must be set (redis://host:port, rediss://host:port or unix:/path), or REDIS_SENTINELS, or REDIS_CLUSTER_NODES; `toolyard start` runs an embedded Redis instead'
  ])
}

function placeOf (settings: Settings): RedisTarget['place'] | undefined {
  const { REDIS_URL: url, REDIS_SENTINELS: sentinels, REDIS_CLUSTER_NODES: nodes } = settings
  if (url !== undefined) return { kind: 'server', url }
  if (nodes !== undefined) return { kind: 'cluster', nodes }
  if (sentinels === undefined) return undefined
  const { REDIS_SENTINEL_USERNAME: username, REDIS_SENTINEL_PASSWORD: password } = settings
  return {
    kind: 'sentinels',
    nodes: sentinels,
    master: settings.REDIS_MASTER_NAME,
    ...withoutUndefined({ username, password })
  }
}

/**
 * Certificates are renewed while processes run, so that each connection reads the files anew: it copies these properties, the first
 * one first. What doesn't fit together, as half of what is being renewed, is as it was: ioredis gives up for good on it.
 */
function certificatesOf (settings: Settings): NonNullable<RedisTarget['tls']> {
  const files = Object.entries({ ca: 'REDIS_TLS_CA', cert: 'REDIS_TLS_CERT', key: 'REDIS_TLS_KEY' } as const)
  const read = (): NonNullable<RedisTarget['tls']> => Object.fromEntries(files.flatMap(([part, name]) => {
    const path = settings[name]
    return path === undefined ? [] : [[part, readPem(name, path)]]
  }))
  let now = read()
  const renew = (): void => {
    now = orElse(() => {
      const renewed = read()
      createSecureContext(renewed)
      return renewed
    }, now)
  }
  const given = (['ca', 'cert', 'key'] as const).filter(part => now[part] !== undefined)
  return Object.defineProperties({}, Object.fromEntries(given.map((part, index) => [part, {
    enumerable: true,
    get: () => {
      if (index === 0) renew()
      return now[part]
    }
  }])))
}

function readPem (name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new SettingsError([`${name}: ${asError(error).message}`])
  }
}
