import type { JobState } from '@toolyard/client'

export type { Person } from '../access/context.ts'

/** The states of jobs, in the order in which they are reached. */
export const jobStates: readonly JobState[] = ['queued', 'held', 'running', 'input_required', 'succeeded', 'failed', 'cancelled']

/** States that a job doesn't leave. */
export function isEnd (status: JobState): boolean {
  return status === 'succeeded' || status === 'failed' || status === 'cancelled'
}
