export interface JobScope {
  /** The only queues; undefined means all. */
  queues?: readonly string[] | undefined
  /** The only tenant; undefined means all jobs, also those of no tenant. */
  tenant?: string | undefined
}

/**
 * The owner of jobs: the tenant, or the key where it has none. Limits count for an owner, and only the owner may use an
 * `Idempotency-Key` again. No key has a name that begins with `@`.
 */
export function ownerOf ({ tenant, keyName }: { tenant?: string | undefined, keyName: string }): string {
  return tenant === undefined ? keyName : `@${tenant}`
}
