import type { Permission } from '@toolyard/contract'
import type { ProcessLimits } from './limits.ts'

/** What one tool's processes may reach and use. */
export interface Grant {
  permissions: readonly Permission[]
  /** Directories and files that they may read, beside the system and their own program; absolute paths. */
  readable: readonly string[]
  limits: ProcessLimits
}

/** The same for code outside a call: it needs no network, and no caller sees what it does. */
export function withoutNetwork (grant: Grant): Grant {
  return { ...grant, permissions: grant.permissions.filter(permission => permission !== 'network') }
}
