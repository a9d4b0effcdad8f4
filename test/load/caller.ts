import type { InvokeBatchResponse, JobResponse } from '@toolyard/contract'
import { setTimeout as delay } from 'node:timers/promises'
import { createClient } from '../support/client.ts'

export interface LoadCall {
  number: number
  name: string
  arguments: Record<string, unknown>
  /** Code of its error, `ok`, or undefined while it is to be asked for. */
  end?: string
  jobId?: string
}

export interface Encounters {
  /** Answers that said that the service can't serve now. */
  unavailable: number
  /** Requests that broke off. */
  broken: number
  pending: number
}

/** Who calls, and where the API processes are at the moment. */
export interface Caller {
  key: string
  addresses: () => readonly string[]
  encounters: Encounters
}

const patienceMs = 240_000

/**
 * Sends a batch until it is answered, to any API process, always with the same Idempotency-Key; then asks for the jobs
 * that weren't over, until they are.
 *
 * @throws Error for an answer that doesn't fit the batch, and when there is none in four minutes.
 */
export async function runBatch (caller: Caller, calls: readonly LoadCall[], mode: 'sync' | 'async', queue: string): Promise<void> {
  const body = { calls: calls.map(({ number, name, arguments: args }) => ({ call_id: `call-${number}`, name, arguments: args })), mode, queue, wait_ms: 5_000 }
  const answer = await ask<InvokeBatchResponse>(caller, '/v1/agent-tools/invoke-batch', { body, headers: { 'idempotency-key': `load-${calls[0]?.number}` } })
  const ids = answer.results.map(({ call_id: id }) => id)
  if (ids.join() !== calls.map(({ number }) => `call-${number}`).join()) throw new Error(`answers ${ids.join()} to calls ${calls.map(({ number }) => number).join()}`)
  for (const [index, call] of calls.entries()) {
    const result = answer.results[index]
    if (result?.pending === true) caller.encounters.pending += 1
    if (result?.job_id !== undefined) call.jobId = result.job_id
    const goesOn = result?.job_id !== undefined && (mode === 'async' || result.pending === true)
    if (!goesOn) call.end = result?.ok === true ? 'ok' : result?.error?.code ?? 'no error'
  }
  for (const call of calls) if (call.jobId !== undefined && call.end === undefined) call.end = await endOf(caller, call.jobId)
}

async function endOf (caller: Caller, id: string): Promise<string> {
  const deadline = Date.now() + patienceMs
  for (;;) {
    const { job } = await ask<JobResponse>(caller, `/v1/jobs/${id}`, {})
    if (job.status === 'succeeded') return 'ok'
    if (job.status === 'failed' || job.status === 'cancelled') return job.error?.code ?? 'no error'
    if (Date.now() > deadline) throw new Error(`job ${id} of ${caller.key} is still ${job.status}`)
    await delay(250)
  }
}

/** Asks until there is an answer that isn't a 503. */
async function ask<T> (
  { key, addresses, encounters }: Caller, path: string, options: { body?: unknown, headers?: Record<string, string> }
): Promise<T> {
  const deadline = Date.now() + patienceMs
  for (;;) {
    const all = addresses()
    const address = all[Math.floor(Math.random() * all.length)] ?? ''
    try {
      const answer = await createClient(address, key).request<T>(path, options)
      if (answer.status === 200) return answer.body
      if (answer.status !== 503) throw new WrongAnswer(`${path} answered ${answer.status}: ${answer.text}`)
      encounters.unavailable += 1
    } catch (error) {
      if (error instanceof WrongAnswer) throw error
      encounters.broken += 1
    }
    if (Date.now() > deadline) throw new Error(`no answer to ${path} within ${patienceMs} ms`)
    await delay(100)
  }
}

class WrongAnswer extends Error {}
