import type { CallError } from '@toolyard/contract'
import type { ServiceAction } from '@toolyard/manifests'
import type { ToolQuery } from '../catalog/search/tool-search.ts'
import type { OutputAsk } from '../outputs/kept-outputs.ts'
import type { SearchArguments } from '../outputs/search-output.ts'

export type JobToolCall = { jobId: string } & (
  | { action: 'job_result', waitMs: number }
  | { action: 'job_cancel' }
  | { action: 'output', ask: OutputAsk }
)

/** The API answers it, and makes no job of it. */
export type ServiceCall = JobToolCall | { action: 'search', search: ToolQuery }

/** An `Idempotency-Key` remembers this of such a call: it is asked anew each time. */
export const askedAnew: CallError = { code: 'INTERNAL', message: 'This call is answered anew each time: repeat it without the Idempotency-Key' }

export function serviceCallOf (action: Exclude<ServiceAction, 'call_tool'>, args: Readonly<Record<string, unknown>>): ServiceCall {
  const jobId = String(args['job_id'])
  const of = args['of'] === 'log' ? 'log' : 'output'
  switch (action) {
    case 'job_cancel': return { action, jobId }
    case 'job_result': return { action, jobId, waitMs: Number(args['wait_ms']) }
    case 'output_read': return { action: 'output', jobId, ask: { kind: 'read', of, args } }
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- The schema of the tool has checked them.
    case 'output_search': return { action: 'output', jobId, ask: { kind: 'search', of, args: args as unknown as SearchArguments } }
    case 'search_tools': {
      const { query, namespace, limit } = args
      return { action: 'search', search: { query: String(query), limit: Number(limit), namespace: typeof namespace === 'string' ? namespace : undefined } }
    }
  }
}
