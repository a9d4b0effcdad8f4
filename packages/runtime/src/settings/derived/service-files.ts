import { resolve } from 'node:path'
import { secretFilesOf, type Settings } from '../settings.ts'

/** The service's own, in its working directory. */
const kept = ['.env', '.toolyard'] as const
const socketScheme = 'unix:'

/**
 * Files and directories of the service that no tool may see, whether they are there or not: its settings and keys, its
 * data and logs, the socket of its Redis. Absolute paths.
 */
export function serviceFilesOf (settings: Settings, env: NodeJS.ProcessEnv): string[] {
  const { AUDIT_DIR: audit, REDIS_TLS_KEY: key, REDIS_URL: redis, SECRETS_DIR: secrets, SECRETS_VAULT_TOKEN_PATH: token } = settings
  return [
    ...kept,
    audit,
    ...secretFilesOf(env),
    ...(secrets === undefined ? [] : [secrets]),
    ...(token === undefined ? [] : [token]),
    ...(key === undefined ? [] : [key]),
    ...(redis?.startsWith(socketScheme) === true ? [redis.slice(socketScheme.length)] : [])
  ].map(path => resolve(path))
}
