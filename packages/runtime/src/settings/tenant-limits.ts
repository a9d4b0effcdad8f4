import { parseHosts } from './api-keys.ts'
import { asError, isRecord, isTenantName, tenantNamePattern } from '@toolyard/contract/terms'

/** One tenant's part of `TENANT_LIMITS_JSON`; the rest is as for keys without a tenant. */
export interface TenantLimits {
  /** Unfinished jobs; 0 for any number. */
  maxJobs?: number
  /** Requests in a minute; 0 for any number. */
  ratePerMinute?: number
  /** Calls that run at once; 0 for any number. */
  maxRunning?: number
  /** Bytes that the quotas of its sessions come to; 0 for any number. */
  maxSessionBytes?: number
  hosts?: readonly string[]
}

const fields = {
  max_jobs: { name: 'maxJobs', greatest: 10_000_000 },
  rate_limit_per_minute: { name: 'ratePerMinute', greatest: 10_000_000 },
  max_running: { name: 'maxRunning', greatest: 100_000 },
  max_session_bytes: { name: 'maxSessionBytes', greatest: Number.MAX_SAFE_INTEGER }
} as const

/**
 * Reads `TENANT_LIMITS_JSON`: `{"acme": {"max_jobs"?, ...}}`, and `"*"` for tenants that are not named.
 *
 * @throws Error that names the tenant and what is wrong.
 */
export function parseTenantLimits (json: string): ReadonlyMap<string, TenantLimits> {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch (error) {
    throw new Error(`TENANT_LIMITS_JSON must be JSON: ${asError(error).message}`)
  }
  if (!isRecord(value)) throw new Error('TENANT_LIMITS_JSON must be a JSON object of tenants')
  return new Map(Object.entries(value).map(([tenant, limits]) => [tenant, parseLimits(tenant, limits)]))
}

function parseLimits (tenant: string, value: unknown): TenantLimits {
  if (tenant !== '*' && !isTenantName(tenant)) throw new Error(`${JSON.stringify(tenant)} must match ${tenantNamePattern}, or be "*"`)
  if (!isRecord(value)) throw new Error(`${tenant} must be an object`)
  const limits: TenantLimits = {}
  for (const [field, limit] of Object.entries(value)) {
    if (field === 'hosts') {
      limits.hosts = parseHosts(limit, `hosts of ${tenant}`)
      continue
    }
    if (!isField(field)) {
      throw new Error(`${tenant} has an unknown field '${field}' (known: ${[...Object.keys(fields), 'hosts'].join(', ')})`)
    }
    const { name, greatest } = fields[field]
    if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 0 || limit > greatest) {
      throw new Error(`${field} of ${tenant} must be an integer 0..${greatest}`)
    }
    limits[name] = limit
  }
  return limits
}

function isField (field: string): field is keyof typeof fields {
  return Object.hasOwn(fields, field)
}
