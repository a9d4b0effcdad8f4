import { asError, isQueueName, limits, permissions, queueNamePattern, type Permission } from '@toolyard/contract/terms'
import { isIP } from 'node:net'
import { parseTenantLimits } from './tenant-limits.ts'
import { parseApiKeys, sendableKey, type ApiKey } from './api-keys.ts'
import { egressText, readEgressRule } from '../outgoing/egress-rules.ts'
import { isLoopback, listedHost } from '../outgoing/hosts.ts'
import { placeProblems } from './places.ts'
import { settingFiles, settingText } from './setting-file.ts'
import { choice, flag, hosts, integer, items, list, number, optional, orWord, pairs, path, splitList, text, type Variable } from './variable.ts'

const hostNames = items('a comma-separated list of host names such as example.com, without scheme, port and path, or *', listedHost)

const sealKey = {
  allowed: '32 bytes as 64 hexadecimal digits, as openssl rand -hex 32 prints them',
  read: (value: string) => /^[0-9a-f]{64}$/i.test(value) ? value : undefined
}

/** Every variable that Toolyard reads. `setting-texts.ts` says what each one is. */
export const variables = {
  HOST: text('127.0.0.1'),
  PORT: integer(3001, 0, 65_535),
  REDIS_URL: optional({ allowed: 'redis://host:port, rediss://host:port or unix:/path/of/socket', read: redisUrl }),
  REDIS_SENTINELS: optional(hosts(26_379)),
  REDIS_MASTER_NAME: text('mymaster'),
  REDIS_SENTINEL_USERNAME: optional(text('')),
  REDIS_SENTINEL_PASSWORD: optional(text('')),
  REDIS_CLUSTER_NODES: optional(hosts(6_379)),
  REDIS_USERNAME: optional(text('')),
  REDIS_PASSWORD: optional(text('')),
  REDIS_TLS: flag(),
  REDIS_TLS_CA: optional(path('')),
  REDIS_TLS_CERT: optional(path('')),
  REDIS_TLS_KEY: optional(path('')),
  REDIS_WAIT_REPLICAS: orWord('auto', integer(0, 0, 16)),
  ALLOW_UNSAFE_REDIS: flag(),
  TOOL_MANIFESTS: optional(list([])),
  POLICY_FILE: optional(path('')),
  LOCK: choice('auto', ['auto', 'require'] as const),
  TRUSTED_KEYS: list([]),
  WORKSPACE_DIR: path('workspace'),
  SESSIONS: choice('optional', ['optional', 'require'] as const),
  SESSIONS_DIR: optional(path('')),
  SESSION_TEMPLATES_DIR: optional(path('')),
  SESSION_TTL_SEC: integer(86_400, limits.session.ttlSec.min, limits.session.ttlSec.max),
  SESSION_QUOTA_BYTES: integer(1_073_741_824, limits.session.quotaBytes.min, limits.session.quotaBytes.max),
  API_KEY: optional({ allowed: 'a text of printable ASCII characters: no other arrives whole in a header', read: value => sendableKey.test(value) ? value : undefined }),
  API_KEYS_JSON: optional<ApiKey[]>({ allowed: 'a JSON array', read: parseApiKeys }),
  API_AUTH_DISABLED: flag(),
  MCP_AUTH_ISSUER: optional({ allowed: 'an https:// URL without query; http:// is for loopback alone', read: publicUrl }),
  MCP_AUTH_RESOURCE: optional({ allowed: 'the URL of /mcp as clients know it: https://, without query', read: publicUrl }),
  MCP_AUTH_AUDIENCE: optional(text('')),
  MCP_AUTH_TENANT_CLAIM: optional(text('')),
  MCP_AUTH_SCOPES: optional({ allowed: 'read=SCOPE,admin=SCOPE, with two different scopes', read: scopes }),
  TOOL_TIMEOUT_SEC: number(30, 0.1, 3_600),
  WORKER_QUEUES: { fallback: ['*'], ...items(`*, or a comma-separated list of queue names, each matching ${queueNamePattern}`, item => item === '*' || isQueueName(item) ? item : undefined) },
  WORKER_CONCURRENCY: integer(8, 1, 1_000),
  WORKER_TOTAL_CONCURRENCY: optional(integer(0, 1, 10_000)),
  WORKER_PROCESSES: integer(1, 1, 256),
  BOX_STOCK_MB: integer(16, 0, 1_048_576),
  WARM_MAX_MB: integer(256, 0, 1_048_576),
  WARM_MAX_IDLE_SEC: integer(60, 1, 86_400),
  SKILLS_ALLOW_SCRIPTS: flag(),
  SKILL_PROGRAMS: list([]),
  SKILLS_SHELL: flag(),
  SKILLS_CONTEXT_MODE: choice('full', ['full', 'readOnDemand']),
  SKILLS_ENABLED: list(['all']),
  SKILLS_DISABLED: list([]),
  WORKSPACE_DELETE_ENABLED: flag(),
  TOOL_EXEC_ENABLED: flag(),
  TOOL_EXEC_ALLOWLIST: list([]),
  DATA_FETCH_ENABLED: flag(),
  DATA_FETCH_ALLOWLIST: { fallback: [], ...hostNames },
  DATA_FETCH_ALLOW_HTTP: flag(),
  DATA_FETCH_ALLOW_PRIVATE: flag(),
  HTTP_PRIVATE_HOSTS: { fallback: [], ...hostNames },
  WEB_SEARCH_ENABLED: flag(),
  WEB_SEARCH_BRAVE_KEY: optional(text('')),
  WEB_SEARCH_SEARXNG_URL: optional({ allowed: 'an http:// or https:// URL', read: webUrl }),
  MAX_OUTPUT_BYTES: integer(1_048_576, 1_024, 67_108_864),
  CATALOGUE_LIST_MAX: integer(100, 1, 100_000),
  MAX_QUEUES: integer(64, 1, 10_000),
  MAX_QUEUE_DEPTH: integer(100_000, 1, 100_000_000),
  MAX_JOBS_PER_KEY: integer(10_000, 0, 10_000_000),
  RATE_LIMIT_PER_MINUTE: integer(0, 0, 10_000_000),
  TENANT_LIMITS_JSON: optional({ allowed: 'a JSON object of tenants', read: parseTenantLimits }),
  MAX_EVENT_LOOP_DELAY_MS: integer(500, 0, 60_000),
  JOB_RETENTION_SEC: integer(86_400, 60, 31_536_000),
  JOB_RETENTION_COUNT: integer(10_000, 1, 1_000_000),
  MAX_STREAMS: integer(4_000, 1, 100_000),
  SSE_HEARTBEAT_SEC: number(20, 0.05, 300),
  SSE_TOKEN_TTL_SEC: integer(120, 30, 1_800),
  DASHBOARD: choice('on', ['on', 'off']),
  BASE_PATH: { fallback: '', allowed: 'a path such as /toolyard', read: basePath },
  TRUST_PROXY: { fallback: [], allowed: 'a comma-separated list of loopback, linklocal, uniquelocal, addresses and ranges such as 10.0.0.0/8', read: proxies },
  SHUTDOWN_DELAY_SEC: number(1, 0, 300),
  SHUTDOWN_GRACE_SEC: number(25, 0, 3_600),
  SECRETS_KEY: optional(sealKey),
  SECRETS_KEY_PREVIOUS: optional(sealKey),
  SECRETS_DIR: optional(path('')),
  SECRETS_VAULT_URL: optional({ allowed: 'https://host:8200/v1/MOUNT/data, with a path behind it or without; http:// too', read: vaultUrl }),
  SECRETS_VAULT_TOKEN_PATH: optional(path('')),
  CALLBACK_SECRET: optional({ allowed: 'a text of at least 16 characters', read: value => value.length >= 16 ? value : undefined }),
  CALLBACK_ALLOWLIST: { fallback: [], ...hostNames },
  CALLBACK_ALLOW_HTTP: flag(),
  CALLBACK_ALLOW_PRIVATE: flag(),
  CALLBACK_ATTEMPTS: integer(14, 1, limits.callbackAttempts),
  APPROVAL_CALLBACK_URL: optional({ allowed: 'an http:// or https:// URL', read: webUrl }),
  SANDBOX: choice('auto', ['require', 'auto', 'off'] as const),
  PROGRAMS_STRICT: flag(),
  PERMISSIONS_ALLOWED: permissionList<Permission | '*'>(['*'], [...permissions, '*']),
  EGRESS_ALLOWED: { fallback: ['*'], ...items('*, or a comma-separated list of hosts such as api.example.com, *.example.com:443, 10.0.0.5:5432', egressEntry) },
  TOOL_DEFAULT_PERMISSIONS: permissionList<Permission>(['read_repo'], permissions),
  AUDIT_DIR: path('.toolyard/audit'),
  REDACT: text(''),
  METRICS_PORT: optional(integer(0, 0, 65_535)),
  LOG_LEVEL: choice('info', ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
  OTEL_EXPORTER_OTLP_ENDPOINT: optional({ allowed: 'an http:// or https:// URL', read: webUrl }),
  OTEL_EXPORTER_OTLP_PROTOCOL: choice('http/protobuf', ['http/protobuf', 'http/json'] as const),
  OTEL_EXPORTER_OTLP_HEADERS: optional(pairs)
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
 * Reads and checks the environment; an empty variable counts as unset. Each one may be in a file, which `NAME_FILE` names.
 *
 * @throws SettingsError with every problem at once.
 */
export function readSettings (env: NodeJS.ProcessEnv): Settings {
  const problems: string[] = []
  const settings: Record<string, unknown> = {}
  for (const [name, variable] of Object.entries(variables) as Array<[string, Variable<unknown>]>) {
    settings[name] = readOne(name, variable, env, problems)
  }
  if (problems.length > 0) throw new SettingsError(problems)
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- Each of `variables` was read, by its own type.
  const read = settings as Settings
  const misplaced = placeProblems(read)
  if (misplaced.length > 0) throw new SettingsError(misplaced)
  return read
}

/** The files that settings are read from instead of the environment; see `settingFiles`. */
export function secretFilesOf (env: NodeJS.ProcessEnv): string[] {
  return settingFiles(Object.keys(variables), env)
}

function readOne (name: string, variable: Variable<unknown>, env: NodeJS.ProcessEnv, problems: string[]): unknown {
  let value: string | undefined
  try {
    value = settingText(name, env)
  } catch (error) {
    problems.push(asError(error).message)
    return undefined
  }
  return value === undefined ? variable.fallback : readValue(name, variable, value, problems)
}

function readValue (name: string, variable: Variable<unknown>, value: string, problems: string[]): unknown {
  try {
    const read = variable.read(value)
    if (read === undefined) problems.push(`${name} must be ${variable.allowed}`)
    return read
  } catch (error) {
    const { message } = asError(error)
    problems.push(message.startsWith(name) ? message : `${name}: ${message}`)
    return undefined
  }
}

function egressEntry (item: string): string | undefined {
  const rule = readEgressRule(item)
  return rule === undefined ? undefined : egressText(rule)
}

function webUrl (value: string): string | undefined {
  return /^https?:\/\//.test(value) && URL.canParse(value) ? value : undefined
}

/** A URL that OAuth names something by: it is compared as a text, so that it stays as it was written. */
function publicUrl (value: string): string | undefined {
  if (!URL.canParse(value) || /[\s?#]/.test(value)) return undefined
  const { protocol, hostname, username, password } = new URL(value)
  if (username !== '' || password !== '') return undefined
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname)) ? value : undefined
}

function vaultUrl (value: string): string | undefined {
  if (!URL.canParse(value) || /[\s?#]/.test(value)) return undefined
  const { protocol, username, password, pathname } = new URL(value)
  return username === '' && password === '' && /^https?:$/.test(protocol) && /^\/v1\/(?:[^/]+\/)+data(?:\/|$)/.test(pathname) ? value : undefined
}

function scopes (value: string): Readonly<Record<'read' | 'admin', string>> | undefined {
  const { read = '', admin = '', ...others } = pairs.read(value) ?? {}
  // The characters that RFC 6749 allows.
  const areScopes = [read, admin].every(scope => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope))
  return areScopes && read !== admin && Object.keys(others).length === 0 ? { read, admin } : undefined
}

/** Permissions of tools, comma-separated; `none` is the empty list. */
function permissionList<T extends string> (fallback: T[], names: readonly T[]): Variable<T[]> {
  const read = (value: string): T[] | undefined => {
    const items = value === 'none' ? [] : splitList(value).map(item => names.find(name => name === item))
    return items.includes(undefined) || (items.length === 0 && value !== 'none') ? undefined : items.filter(item => item !== undefined)
  }
  return { fallback, allowed: `none, or a comma-separated list of ${names.join(', ')}`, read }
}

/** Where a reverse proxy serves Toolyard, without the slash at the end; `/` is the root. */
function basePath (value: string): string | undefined {
  return value === '/' ? '' : /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~-]+)+\/?$/.exec(value)?.[0].replace(/\/$/, '')
}

function proxies (value: string): string[] | undefined {
  const items = splitList(value)
  return items.every(isProxy) ? items : undefined
}

function isProxy (item: string): boolean {
  if (['loopback', 'linklocal', 'uniquelocal'].includes(item)) return true
  const [address = '', bits, more] = item.split('/')
  const version = isIP(address)
  return version !== 0 && more === undefined && (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128)))
}

function redisUrl (value: string): string | undefined {
  if (value.startsWith('unix:/')) return value
  if (!/^rediss?:\/\//.test(value)) return undefined
  const url = URL.canParse(value) ? new URL(value) : undefined
  // The text behind the first of these characters is no part of the user and the password any more.
  const isCut = url === undefined ? value.includes('@') : [url.pathname, url.search, url.hash].some(part => part.includes('@'))
  const isRaw = url !== undefined && /%(?![0-9a-f]{2})/i.test(url.username + url.password)
  if (isCut || isRaw) throw new Error('a user name or password in it has one of / # ? @ %: write %2F %23 %3F %40 %25 for them, or put it into REDIS_USERNAME or REDIS_PASSWORD as it is')
  return url === undefined ? undefined : value
}
