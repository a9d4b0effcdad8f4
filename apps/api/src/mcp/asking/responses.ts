import { HttpError, isRecord, type QuestionView } from '@toolyard/contract'
import type { ReadJob } from '@toolyard/queue'
import { ProtocolError, ProtocolErrorCode, type InputRequiredResult, type ServerContext } from '@modelcontextprotocol/server'
import type { Answerer } from '../../invocation/answerer.ts'
import type { PersonRequest } from './forms.ts'
import { nameOf, type Pause } from './pause.ts'

/*
 * What clients of 2026 are asked: the answer to a call says what, and the client calls again with what a person has said. What it
 * brings along names the job and what it waits for. It is no secret and needs no seal: a key reaches only jobs that it may answer
 * over HTTP as well. About an approval nothing is decided here.
 */

const statePattern = /^([0-9a-f-]{36})\.(\d{1,2}|h\d{1,15})$/

export function askedOf (jobId: string, pause: Pause, request: PersonRequest): InputRequiredResult {
  return { resultType: 'input_required', inputRequests: { [nameOf(pause)]: request }, requestState: `${jobId}.${pause.mark}` }
}

/**
 * The job that a call goes on with, and what that waited for; undefined for a new call.
 *
 * @throws ProtocolError for what this service has not given out
 */
export function resumedBy ({ mcpReq }: ServerContext): { jobId: string, mark: string } | undefined {
  const state = mcpReq.requestState()
  if (state === undefined) return undefined
  const [, jobId, mark] = statePattern.exec(typeof state === 'string' ? state : '') ?? []
  if (jobId === undefined || mark === undefined) {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'requestState is not one that this service has given out')
  }
  return { jobId, mark }
}

/** What a person has said: an answer was taken, it is asked again and why, or nobody wants to answer. */
export type Said = { kind: 'answered' } | { kind: 'again', fault: string } | { kind: 'declined' }

const noAnswer = 'that is no answer to a form'

/** Hands on what a client has said to the question that a job asks now. */
export async function handOn ({ view }: ReadJob, { number }: QuestionView, response: unknown, answerer: Answerer): Promise<Said> {
  if (!isRecord(response) || typeof response['action'] !== 'string') return { kind: 'again', fault: noAnswer }
  if (response['action'] !== 'accept') return { kind: 'declined' }
  try {
    await answerer.answer(view, { answer: filledIn(response['content']), number })
    return { kind: 'answered' }
  } catch (error) {
    // Somebody else has answered meanwhile.
    if (error instanceof HttpError && error.code === 'CONFLICT') return { kind: 'answered' }
    if (error instanceof HttpError && error.code === 'VALIDATION_ERROR') return { kind: 'again', fault: error.message }
    throw error
  }
}

/** What was filled in: clients write null for a field that was left out. */
function filledIn (content: unknown): unknown {
  if (!isRecord(content)) return content ?? {}
  // A copy by spread knows how its numbers were written.
  const filled = { ...content }
  for (const name in filled) if (filled[name] === null) Reflect.deleteProperty(filled, name)
  return filled
}
