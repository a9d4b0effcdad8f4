import { HttpError, isRecord, type AskedQuestion } from '@toolyard/contract'
import type { ReadJob } from '@toolyard/queue'
import { ProtocolError, ProtocolErrorCode, type InputRequiredResult, type ServerContext } from '@modelcontextprotocol/server'
import type { Answerer } from '../../invocation/answerer.ts'
import type { OpenRequest, Pause } from './pause.ts'

/*
 * Questions to clients of 2026: the answer to a call has them, and the client calls again with what a person has said. What it
 * brings along names the job and what it waits for. It is no secret and needs no seal: a key reaches only jobs that it may answer
 * over HTTP as well. About an approval nothing is decided here.
 */

const statePattern = /^([0-9a-f-]{36})\.(\d{1,2}(?:,\d{1,2}){0,9}|h\d{1,15})$/

export function askedOf (jobId: string, { marks }: Pause, requests: readonly OpenRequest[]): InputRequiredResult {
  const inputRequests = Object.fromEntries(requests.map(({ name, request }) => [name, request]))
  return { resultType: 'input_required', inputRequests, requestState: `${jobId}.${marks.join()}` }
}

/**
 * The job that a call goes on with, and what that waited for; undefined for a new call.
 *
 * @throws ProtocolError for what this service has not given out
 */
export function resumedBy ({ mcpReq }: ServerContext): { jobId: string, marks: string[] } | undefined {
  const state = mcpReq.requestState()
  if (state === undefined) return undefined
  const [, jobId, marks] = statePattern.exec(typeof state === 'string' ? state : '') ?? []
  if (jobId === undefined || marks === undefined) {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'requestState is not one that this service has given out')
  }
  return { jobId, marks: marks.split(',') }
}

/** A client's answer was taken, or is asked again and why, or nobody wants to answer. */
export type Said = { kind: 'answered' } | { kind: 'again', fault: string } | { kind: 'declined' }

/** Hands on what a client has said to a question of its job. */
export async function handOn ({ view }: ReadJob, { kind, number }: AskedQuestion, response: unknown, answerer: Answerer): Promise<Said> {
  const isForm = kind === 'form'
  if (!isRecord(response) || (isForm && typeof response['action'] !== 'string')) return { kind: 'again', fault: `that is no answer to a ${isForm ? 'form' : 'request'}` }
  if (isForm && response['action'] !== 'accept') return { kind: 'declined' }
  const { _meta: meta, ...answer } = response
  try {
    await answerer.answer(view, { answer: isForm ? filledIn(response['content']) : answer, number })
    return { kind: 'answered' }
  } catch (error) {
    // Somebody else has answered meanwhile.
    if (error instanceof HttpError && error.code === 'CONFLICT') return { kind: 'answered' }
    if (error instanceof HttpError && error.code === 'VALIDATION_ERROR') return { kind: 'again', fault: error.message }
    throw error
  }
}

/** Clients write null for a field that was left out. */
function filledIn (content: unknown): unknown {
  if (!isRecord(content)) return content ?? {}
  // A copy by spread knows how its numbers were written.
  const filled = { ...content }
  for (const name in filled) if (filled[name] === null) Reflect.deleteProperty(filled, name)
  return filled
}
