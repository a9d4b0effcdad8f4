import { asError, isRecord, isTenantName, tenantNamePattern } from '@toolyard/contract/terms'

/** What `TENANT_LIMITS_JSON` says of a tenant; what it leaves out is as for keys without a tenant. */
export interface TenantLimits {
  /** Unfinished jobs; 0 for any number. */
  maxJobs?: number
  /** Requests in a minute; 0 for any number. */
  ratePerMinute?: number
}

const greatest = 10_000_000
const fields = { max_jobs: 'maxJobs', rate_limit_per_minute: 'ratePerMinute' } as const

/**
 * Reads `TENANT_LIMITS_JSON`: `{"acme": {"max_jobs"?, "rate_limit_per_minute"?}}`, and `"*"` for tenants that are not named.
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
    if (field !== 'max_jobs' && field !== 'rate_limit_per_minute') {
      throw new Error(`${tenant} has an unknown field '${field}' (known: ${Object.keys(fields).join(', ')})`)
    }
    if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 0 || limit > greatest) {
      throw new Error(`${field} of ${tenant} must be an integer 0..${greatest}`)
    }
    limits[fields[field]] = limit
  }
  return limits
}
