/** The states of jobs, in the order in which they are reached. */
export const jobStates = ['queued', 'held', 'running', 'input_required', 'succeeded', 'failed', 'cancelled'] as const
export type JobState = typeof jobStates[number]

/** Whether a job doesn't leave its state any more. */
export function isEnd (status: JobState): boolean {
  return status === 'succeeded' || status === 'failed' || status === 'cancelled'
}

export const jobOrders = ['newest', 'oldest'] as const
