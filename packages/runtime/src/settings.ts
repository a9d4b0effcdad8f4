import { permissions, type Permission } from '@toolyard/contract'
import { parseApiKeys, type ApiKey } from './api-keys.ts'
import { choice, flag, integer, list, number, optional, path, text, type Variable } from './variable.ts'

/** Every variable that Toolyard reads. `settings-docs` in test/repo ties this table to the README. */
export const variables = {
  HOST: text('127.0.0.1'),
  PORT: integer(3001, 0, 65_535),
  REDIS_URL: optional({ allowed: 'redis://host:port, rediss://host:port or unix:/path/of/socket', read: redisUrl }),
  TOOL_MANIFESTS: optional(list([])),
  WORKSPACE_DIR: path('workspace'),
  API_KEY: optional(text('')),
  API_KEYS_JSON: optional<ApiKey[]>({ allowed: 'a JSON array', read: parseApiKeys }),
  API_AUTH_DISABLED: flag(false),
  TOOL_TIMEOUT_SEC: number(30, 0.1, 3_600),
  WORKER_QUEUES: list(['*']),
  WORKER_CONCURRENCY: integer(8, 1, 1_000),
  SKILLS_ALLOW_SCRIPTS: flag(false),
  SKILLS_CONTEXT_MODE: choice('full', ['full', 'readOnDemand']),
  SKILLS_ENABLED: list(['all']),
  SKILLS_DISABLED: list([]),
  WORKSPACE_DELETE_ENABLED: flag(false),
  TOOL_EXEC_ENABLED: flag(false),
  TOOL_EXEC_ALLOWLIST: list([]),
  DATA_FETCH_ENABLED: flag(false),
  DATA_FETCH_ALLOWLIST: list([]),
  DATA_FETCH_ALLOW_HTTP: flag(false),
  DATA_FETCH_ALLOW_PRIVATE: flag(false),
  WEB_SEARCH_ENABLED: flag(false),
  WEB_SEARCH_PROVIDER: choice<'duckduckgo' | 'brave' | 'searxng'>('duckduckgo', ['duckduckgo', 'brave', 'searxng']),
  WEB_SEARCH_BRAVE_KEY: optional(text('')),
  WEB_SEARCH_SEARXNG_URL: optional({ allowed: 'an http:// or https:// URL', read: webUrl }),
  MAX_OUTPUT_BYTES: integer(1_048_576, 1_024, 67_108_864),
  MAX_QUEUES: integer(64, 1, 10_000),
  JOB_RETENTION_SEC: integer(86_400, 60, 31_536_000),
  JOB_RETENTION_COUNT: integer(10_000, 1, 1_000_000),
  MAX_STREAMS: integer(4_000, 1, 100_000),
  SSE_HEARTBEAT_SEC: number(20, 0.05, 300),
  SSE_TOKEN_TTL_SEC: integer(120, 30, 1_800),
  SHUTDOWN_GRACE_SEC: number(25, 0, 3_600),
  SANDBOX: choice('auto', ['require', 'auto', 'off'] as const),
  PERMISSIONS_ALLOWED: permissionList<Permission | '*'>(['*'], [...permissions, '*']),
  TOOL_DEFAULT_PERMISSIONS: permissionList<Permission>(['read_repo'], permissions),
  AUDIT_DIR: path('.toolyard/audit'),
  REDACT: text(''),
  METRICS_PORT: optional(integer(0, 0, 65_535)),
  LOG_LEVEL: choice('info', ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
} satisfies Record<string, Variable<unknown>>

type Read<V> = V extends Variable<infer T> ? T : never
/** The environment as one typed object, by the variables' own names. */
export type Settings = { readonly [Name in keyof typeof variables]: Read<(typeof variables)[Name]> }

/** Thrown for an environment that can't be used; `problems` has a line for each variable. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
  readonly problems: readonly string[]

  constructor (problems: readonly string[]) {
    super(`Toolyard can't start with these settings:\n${problems.map(problem => `  ${problem}`).join('\n')}`)
    this.problems = problems
  }
}

/**
 * Reads and checks the environment; an empty variable counts as unset.
 *
 * @throws SettingsError with every problem at once.
 */
export function readSettings (env: NodeJS.ProcessEnv): Settings {
  const problems: string[] = []
  const settings: Record<string, unknown> = {}
  for (const [name, variable] of Object.entries(variables) as Array<[string, Variable<unknown>]>) {
    const value = env[name]
    settings[name] = value === undefined || value.trim() === '' ? variable.fallback : readOne(name, variable, value.trim(), problems)
  }
  if (problems.length > 0) throw new SettingsError(problems)
  return settings as Settings
}

function readOne (name: string, variable: Variable<unknown>, value: string, problems: string[]): unknown {
  try {
    const read = variable.read(value)
    if (read === undefined) problems.push(`${name} must be ${variable.allowed}`)
    return read
  } catch (error) {
    problems.push(`${name}: ${(error as Error).message}`)
    return undefined
  }
}

function webUrl (value: string): string | undefined {
  return /^https?:\/\//.test(value) && URL.canParse(value) ? value : undefined
}

/** Permissions of tools, comma-separated; `none` is the empty list. */
function permissionList<T extends string> (fallback: T[], names: readonly T[]): Variable<T[]> {
  const read = (value: string): T[] | undefined => {
    const items = value === 'none' ? [] : value.split(',').map(item => names.find(name => name === item.trim()))
    return items.includes(undefined) ? undefined : items.filter(item => item !== undefined)
  }
  return { fallback, allowed: `none, or a comma-separated list of ${names.join(', ')}`, read }
}

function redisUrl (value: string): string | undefined {
  if (value.startsWith('unix:/')) return value
  return /^rediss?:\/\//.test(value) && URL.canParse(value) ? value : undefined
}
