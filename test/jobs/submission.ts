import type { JobList, JobResponse, SubmitJobResponse } from '@toolyard/contract'
import { waitFor } from '../support/condition.ts'
import type { Answer, Client, RequestOptions } from '../support/client.ts'

export type Job = JobResponse['job']

/** Posts to /v1/jobs, whatever comes back. */
export async function post (client: Client, body: unknown, options: RequestOptions = {}): Promise<Answer<SubmitJobResponse>> {
  return await client.request<SubmitJobResponse>('/v1/jobs', { ...options, body })
}

/** Submits a job and expects it to be accepted. */
export async function submit (client: Client, body: object, options: RequestOptions = {}): Promise<Job> {
  const answer = await post(client, body, options)
  if (answer.status !== 201) throw new Error(`POST /v1/jobs answered ${answer.status}: ${answer.text}`)
  return answer.body.job
}

export async function read (client: Client, id: string): Promise<Job> {
  const answer = await client.request<JobResponse>(`/v1/jobs/${id}`)
  if (answer.status !== 200) throw new Error(`GET /v1/jobs/${id} answered ${answer.status}: ${answer.text}`)
  return answer.body.job
}

/** Waits until a job is in one of these states. */
export async function reach (client: Client, id: string, ...states: Array<Job['status']>): Promise<Job> {
  return await waitFor(`job ${id} is ${states.join(' or ')}`, async () => {
    const job = await read(client, id)
    return states.includes(job.status) && job
  })
}

/** Lists jobs; `query` begins with `?` or is empty. */
export async function list (client: Client, query = '', options: RequestOptions = {}): Promise<JobList> {
  const answer = await client.request<JobList>(`/v1/jobs${query}`, options)
  if (answer.status !== 200) throw new Error(`GET /v1/jobs answered ${answer.status}: ${answer.text}`)
  return answer.body
}

/** Waits until a job runs. @returns its id */
export async function running (client: Client, query = '', options: RequestOptions = {}): Promise<string> {
  return await waitFor('a job runs', async () => (await list(client, `?status=running${query}`, options)).jobs[0]?.id)
}

export async function cancel (client: Client, id: string, options: RequestOptions = {}): Promise<Answer<JobResponse>> {
  return await client.request<JobResponse>(`/v1/jobs/${id}/cancel`, { ...options, method: 'POST' })
}
