import { HttpError, isRecord, type QuestionView } from '@toolyard/contract'
import type { ReadJob } from '@toolyard/queue'
import {
  CLIENT_CAPABILITIES_META_KEY, isSpecType, ProtocolError, ProtocolErrorCode, type InputRequests, type InputRequiredResult,
  type ServerContext
} from '@modelcontextprotocol/server'
import type { Answerer } from '../../invocation/answerer.ts'

/*
 * What tools ask, as clients of 2026 are asked: the answer to a call says what is asked, and the client calls again with what a
 * person has said. What it brings along names the job and the question. It is no secret and needs no seal: a key reaches only
 * jobs that it may answer over HTTP as well.
 */

const statePattern = /^([0-9a-f-]{36})\.(\d{1,2})$/

/** Whether the client of a request has forms, and the question fits into one. */
export function canAsk ({ mcpReq: { envelope } }: ServerContext, question: QuestionView): boolean {
  const capabilities = isRecord(envelope) ? envelope[CLIENT_CAPABILITIES_META_KEY] : undefined
  const elicitation = isRecord(capabilities) ? capabilities['elicitation'] : undefined
  const hasForms = isRecord(elicitation) && (elicitation['form'] !== undefined || Object.keys(elicitation).length === 0)
  return hasForms && isSpecType.ElicitRequestFormParams(formOf(question, ''))
}

/** What is asked, by the name of the question. */
export function requestsOf (question: QuestionView, fault = ''): InputRequests {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- `canAsk` has looked at it.
  return { [question.name]: { method: 'elicitation/create', params: formOf(question, fault) } } as InputRequests
}

function formOf ({ text, schema }: QuestionView, fault: string): object {
  const properties = isRecord(schema) && isRecord(schema['properties']) ? schema['properties'] : {}
  const fields = Object.entries(properties).map(([name, property]) => [name, fieldOf(property)] as const)
  const requestedSchema = { ...isRecord(schema) && schema, properties: Object.fromEntries<unknown>(fields) }
  return { mode: 'form', message: `${text}${fault}`, requestedSchema }
}

/** Forms want the type of a choice said, which schemas leave out. */
function fieldOf (property: unknown): unknown {
  if (!isRecord(property) || property['type'] !== undefined) return property
  const { enum: values, oneOf } = property
  const titled: unknown[] = Array.isArray(oneOf) ? oneOf : []
  const choices: unknown[] = Array.isArray(values) ? values : titled.map(each => isRecord(each) ? each['const'] : undefined)
  return choices.length > 0 && choices.every(choice => typeof choice === 'string') ? { type: 'string', ...property } : property
}

export function askedOf (jobId: string, question: QuestionView, fault?: string): InputRequiredResult {
  return { resultType: 'input_required', inputRequests: requestsOf(question, fault), requestState: `${jobId}.${question.number}` }
}

/**
 * The job and the question that a call goes on with; undefined for a new call.
 *
 * @throws ProtocolError for what this service has not given out
 */
export function resumedBy ({ mcpReq }: ServerContext): { jobId: string, number: number } | undefined {
  const state = mcpReq.requestState()
  if (state === undefined) return undefined
  const [, jobId, number] = statePattern.exec(typeof state === 'string' ? state : '') ?? []
  if (jobId === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'requestState is not one that this service has given out')
  return { jobId, number: Number(number) }
}

/** What a client has said: an answer was taken, it is asked again and why, or nobody wants to answer. */
export type Said = { kind: 'answered' } | { kind: 'again', fault: string } | { kind: 'declined' }

/** Hands on what a client has said to the question that a job asks now. */
export async function handOn ({ view }: ReadJob, question: QuestionView, responses: unknown, answerer: Answerer): Promise<Said> {
  const response = isRecord(responses) ? responses[question.name] : undefined
  if (!isRecord(response) || typeof response['action'] !== 'string') return { kind: 'again', fault: '' }
  if (response['action'] !== 'accept') return { kind: 'declined' }
  try {
    await answerer.answer(view, { answer: response['content'] ?? {}, number: question.number })
    return { kind: 'answered' }
  } catch (error) {
    // Somebody else has answered meanwhile.
    if (error instanceof HttpError && error.code === 'CONFLICT') return { kind: 'answered' }
    if (error instanceof HttpError && error.code === 'VALIDATION_ERROR') return { kind: 'again', fault: ` (${error.message})` }
    throw error
  }
}
