import type { CallError } from '@toolyard/contract'
import type { Tool } from '@toolyard/manifests'

/** What a call asks of a job. */
export type JobToolCall = { jobId: string } & ({ action: 'job_result', waitMs: number } | { action: 'job_cancel' })

/** What an `Idempotency-Key` remembers of such a call: it is asked anew each time. */
export const askedAnew: CallError = { code: 'INTERNAL', message: 'This call is answered anew each time: repeat it without the Idempotency-Key' }

/** What a call of such a tool asks; undefined for a call of another tool. */
export function jobToolCallOf ({ run }: Tool, args: Readonly<Record<string, unknown>>): JobToolCall | undefined {
  if (run.kind !== 'service') return undefined
  const jobId = String(args['job_id'])
  return run.action === 'job_cancel' ? { action: run.action, jobId } : { action: run.action, jobId, waitMs: Number(args['wait_ms']) }
}
