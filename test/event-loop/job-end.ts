import { waitFor } from '../support/condition.ts'
import type { Client } from '../support/client.ts'

/** Waits for the end of a job; gives its status. The list is asked, as it has no outputs. */
export async function endOf (client: Client, id: string): Promise<string> {
  return await waitFor('the job has ended', async () => {
    const { body } = await client.request<{ jobs: Array<{ id: string, status: string }> }>('/v1/jobs?limit=200')
    const status = body.jobs.find(job => job.id === id)?.status
    return status === 'succeeded' || status === 'failed' ? status : undefined
  }, 30_000)
}
