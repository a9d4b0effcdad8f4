import { dirname, join, resolve } from 'node:path'
import { permissions, type PermissionPolicy } from '@toolyard/contract/terms'
import type { ApiKey } from '../api-keys.ts'
import { isLoopback } from '../../outgoing/hosts.ts'
import { SettingsError, type Settings } from '../settings.ts'
import type { TenantLimits } from '../tenant-limits.ts'

/**
 * The API keys in force: `API_KEYS_JSON` replaces `API_KEY`, which alone is an admin's.
 *
 * @throws SettingsError when authentication is off and a key is configured, or the service listens beyond loopback.
 */
export function apiKeysOf (settings: Settings): readonly ApiKey[] {
  const keys = settings.API_KEYS_JSON ?? (settings.API_KEY === undefined ? [] : [legacyKey(settings.API_KEY)])
  if (!settings.API_AUTH_DISABLED) return keys
  if (keys.length > 0) throw new SettingsError(['API_AUTH_DISABLED=1 works only when neither API_KEY nor API_KEYS_JSON is set: unset one or the other'])
  if (!isLoopback(settings.HOST)) throw new SettingsError([`API_AUTH_DISABLED=1 works only on loopback: set HOST to 127.0.0.1 instead of ${settings.HOST}`])
  return keys
}

/** Whose access tokens `/mcp` takes. */
export interface TokenSettings {
  issuer: string
  /** The URL of `/mcp`, which clients ask the issuer for tokens of; undefined: that which the service listens on. */
  resource: string | undefined
  /** The `aud` of tokens; undefined: the resource. */
  audience: string | undefined
  /** The claim that names the tenant of who has the token; undefined: tokens are the operator's. */
  tenantClaim: string | undefined
  /** The scope that stands for each role. */
  scopes: Readonly<Record<'read' | 'admin', string>>
}

const defaultScopes = { read: 'toolyard:read', admin: 'toolyard:admin' }

/**
 * The OAuth issuer of `/mcp`; undefined when there are keys alone.
 *
 * @throws SettingsError when authentication is off, or nothing tells the URL that clients know.
 */
export function tokensOf (settings: Settings): TokenSettings | undefined {
  const { MCP_AUTH_ISSUER: issuer, MCP_AUTH_RESOURCE: resource } = settings
  if (issuer === undefined) return undefined
  if (settings.API_AUTH_DISABLED) throw new SettingsError(['MCP_AUTH_ISSUER works only without API_AUTH_DISABLED=1, which lets everybody in'])
  if (resource === undefined && !isLoopback(settings.HOST)) {
    throw new SettingsError(['MCP_AUTH_RESOURCE must be set beside MCP_AUTH_ISSUER: the URL of /mcp as clients know it'])
  }
  return {
    issuer,
    resource,
    audience: settings.MCP_AUTH_AUDIENCE,
    tenantClaim: settings.MCP_AUTH_TENANT_CLAIM,
    scopes: settings.MCP_AUTH_SCOPES ?? defaultScopes
  }
}

/** Limits of a tenant, or of a key without one. */
export type LimitOf = (tenant: string | undefined) => number

export function ownerLimitsOf (
  settings: Settings
): { maxJobs: LimitOf, ratePerMinute: LimitOf, isRateLimited: boolean, maxRunning: LimitOf, maxSessionBytes: LimitOf } {
  const { TENANT_LIMITS_JSON: tenants, MAX_JOBS_PER_KEY: maxJobs, RATE_LIMIT_PER_MINUTE: ratePerMinute } = settings
  return {
    maxJobs: tenant => limitsOf(settings, tenant).maxJobs ?? maxJobs,
    ratePerMinute: tenant => limitsOf(settings, tenant).ratePerMinute ?? ratePerMinute,
    maxRunning: tenant => limitsOf(settings, tenant).maxRunning ?? 0,
    maxSessionBytes: tenant => limitsOf(settings, tenant).maxSessionBytes ?? 0,
    isRateLimited: ratePerMinute > 0 || [...tenants?.values() ?? []].some(limits => (limits.ratePerMinute ?? 0) > 0)
  }
}

function limitsOf ({ TENANT_LIMITS_JSON: tenants }: Settings, tenant: string | undefined): TenantLimits {
  return tenant === undefined ? {} : { ...tenants?.get('*'), ...tenants?.get(tenant) }
}

export interface SessionSettings {
  /** Calls that name none are refused. */
  isRequired: boolean
  /** Their directories are in it, by id. */
  dir: string
  /** The directories that sessions may begin as; undefined where there are none. */
  templatesDir: string | undefined
  ttlSec: number
  quotaBytes: number
}

/** The settings of sessions in force; their directory is beside the workspace where nothing else is said. */
export function sessionSettingsOf (settings: Settings): SessionSettings {
  return {
    isRequired: settings.SESSIONS === 'require',
    dir: settings.SESSIONS_DIR ?? join(dirname(settings.WORKSPACE_DIR), 'sessions'),
    templatesDir: settings.SESSION_TEMPLATES_DIR,
    ttlSec: settings.SESSION_TTL_SEC,
    quotaBytes: settings.SESSION_QUOTA_BYTES
  }
}

/** Where tools come from, and what the operator decided about skills. */
export interface ToolSources {
  manifests: readonly string[]
  skills: {
    /** Whether files of a skill's `scripts/` may run: by resolvers, and by `skill_run`. */
    allowScripts: boolean
    /** Programs that `skill_run` may run beside scripts, by their names on the PATH. */
    programs: readonly string[]
    /** Whether `skill_run` takes shell command lines. */
    shell: boolean
    /** `readOnDemand`: models read a skill's text with the tool `read_skill` when they need it. */
    contextMode: 'full' | 'readOnDemand'
    /** Names of the skills that are loaded, or all. */
    enabled: readonly string[] | 'all'
    /** Names of the skills that are not loaded, whatever `enabled` says. */
    disabled: readonly string[]
    /** Where programs are looked for, as in the variable PATH. */
    path: string
  }
  policy: BuiltinSettings
  /** Rules on the calls of all tools. */
  policyFile: string | undefined
  /** The lock of the working directory, and what it is for. */
  lock: { file: string, isRequired: boolean, trustedKeys: readonly string[] }
  /** Tools don't run whose programs others than the owner may replace. */
  strictPrograms: boolean
}

/** The manifests in force, the settings of skills and the policy of the built-in tools. */
export function toolSourcesOf (settings: Settings, env: NodeJS.ProcessEnv): ToolSources {
  return {
    manifests: settings.TOOL_MANIFESTS ?? [],
    skills: {
      allowScripts: settings.SKILLS_ALLOW_SCRIPTS,
      programs: settings.SKILL_PROGRAMS,
      shell: settings.SKILLS_SHELL,
      contextMode: settings.SKILLS_CONTEXT_MODE,
      enabled: settings.SKILLS_ENABLED.includes('all') ? 'all' : settings.SKILLS_ENABLED,
      disabled: settings.SKILLS_DISABLED,
      path: env['PATH'] ?? ''
    },
    policy: builtinSettingsOf(settings),
    policyFile: settings.POLICY_FILE,
    lock: { file: resolve('toolyard.lock.json'), isRequired: settings.LOCK === 'require', trustedKeys: settings.TRUSTED_KEYS },
    strictPrograms: settings.PROGRAMS_STRICT
  }
}

/** The part of a tool that is switched off is absent. */
interface BuiltinSettings {
  exec?: { allowlist: readonly string[] }
  fetch?: { allowlist: readonly string[], allowHttp: boolean, allowPrivate: boolean }
  webSearch?: { provider: 'duckduckgo' | 'brave' | 'searxng', braveKey?: string, searxngUrl?: string }
  workspaceDelete: boolean
}

/** The policy of the built-in tools in force. */
export function builtinSettingsOf (settings: Settings): BuiltinSettings {
  const { DATA_FETCH_ALLOWLIST: allowlist, DATA_FETCH_ALLOW_HTTP: allowHttp, DATA_FETCH_ALLOW_PRIVATE: allowPrivate } = settings
  const fetch = { allowlist, allowHttp, allowPrivate }
  return {
    ...(settings.TOOL_EXEC_ENABLED ? { exec: { allowlist: settings.TOOL_EXEC_ALLOWLIST } } : {}),
    ...(settings.DATA_FETCH_ENABLED ? { fetch } : {}),
    ...(settings.WEB_SEARCH_ENABLED ? { webSearch: webSearchOf(settings) } : {}),
    workspaceDelete: settings.WORKSPACE_DELETE_ENABLED
  }
}

function webSearchOf ({ WEB_SEARCH_BRAVE_KEY: braveKey, WEB_SEARCH_SEARXNG_URL: searxngUrl }: Settings): NonNullable<BuiltinSettings['webSearch']> {
  const provider = searxngUrl !== undefined ? 'searxng' : braveKey !== undefined ? 'brave' : 'duckduckgo'
  return { provider, ...(braveKey === undefined ? {} : { braveKey }), ...(searxngUrl === undefined ? {} : { searxngUrl }) }
}

export function retentionOf (settings: Settings): { ageSec: number, count: number } {
  return { ageSec: settings.JOB_RETENTION_SEC, count: settings.JOB_RETENTION_COUNT }
}

/** Seals stored secrets; undefined without a key. */
export function sealKeysOf (
  { SECRETS_KEY: current, SECRETS_KEY_PREVIOUS: previous }: Settings
): { current: Buffer, previous: Buffer | undefined } | undefined {
  if (current === undefined) return undefined
  return { current: Buffer.from(current, 'hex'), previous: previous === undefined ? undefined : Buffer.from(previous, 'hex') }
}

/** Where the operator has secrets beside those that are stored. */
export function secretPlacesOf (
  { SECRETS_DIR: directory, SECRETS_VAULT_URL: url, SECRETS_VAULT_TOKEN_PATH: tokenFile }: Settings
): { directory: string | undefined, vault: { url: string, tokenFile: string } | undefined } {
  return { directory, vault: url === undefined || tokenFile === undefined ? undefined : { url, tokenFile } }
}

/** With the `*` of `PERMISSIONS_ALLOWED` spelled out. */
export function permissionPolicyOf (settings: Settings): PermissionPolicy {
  return {
    allowed: permissions.filter(permission => settings.PERMISSIONS_ALLOWED.some(allowed => allowed === '*' || allowed === permission)),
    defaults: settings.TOOL_DEFAULT_PERMISSIONS,
    egress: settings.EGRESS_ALLOWED,
    egressOf: tenant => limitsOf(settings, tenant).hosts
  }
}

function legacyKey (key: string): ApiKey {
  return { name: 'default', key, role: 'admin', tenant: undefined, queueAllowlist: undefined, permissions: undefined, sse: true }
}
