import { createHash } from 'node:crypto'
import { writeJson } from '@toolyard/contract/terms'
import type { Audit } from './audit.ts'
import type { AuditedCall } from './entry.ts'

/** The same audit, which writes to every entry of one call what is known of the call. */
export function auditOfCall (audit: Audit, args: Record<string, unknown>, call: Omit<AuditedCall, 'argumentsSha256'>): Audit {
  let argumentsSha256: string | undefined
  return {
    record (entry) {
      // Most built-in tools record nothing.
      argumentsSha256 ??= createHash('sha256').update(writeJson(args)).digest('hex')
      audit.record({ ...entry, call: { ...call, argumentsSha256 } })
    },
    flush: async () => { await audit.flush() }
  }
}
