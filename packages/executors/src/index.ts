export { openAudit, type Audit, type AuditOptions } from './audit/audit.ts'
export type { AuditEntry } from './audit/entry.ts'
export { createExecutors, type ExecutorLogger, type ExecutorOptions, type Executors } from './executors.ts'
export type { Failure, Outcome, RunContext, Success } from './outcome.ts'
