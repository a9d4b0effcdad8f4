import type { QuestionView, Settlement } from '@toolyard/contract'
import { isRecord, type CallError } from '@toolyard/contract/terms'
import { readStored } from '@toolyard/store'
import { isoTime } from './job-times.ts'
import type { OwnOptions } from './new-job.ts'

/*
 * What the tool of a job asks whoever called it: kept in fields of the job's record. How far it is stands by itself, since lists
 * read it. Answers are lines of JSON, the oldest first, as they came: a tool that runs again gets all of them.
 *
 * States: asked -> answered (the job runs again) -> asked, with the next number
 *               -> expired: the job ends
 * See docs/decisions/0091-held-calls.md.
 */

export const askedField = 'asked'
export const questionField = 'question'
export const answersField = 'answers'

export interface Question {
  /** What its tool calls it. */
  name: string
  text: string
  /** JSON Schema of the answer, an object. */
  schema: Record<string, unknown>
  /** For the next run alone. */
  memo?: string
}

/** How far the last question is. Times are milliseconds since 1970, by Redis' clock. */
export interface AskedRecord {
  state: 'asked' | 'answered' | 'expired'
  /** From 1 on. */
  number: number
  at: number
  ends: number
  /** How many answers of a client of tasks didn't fit, and why the last one didn't. Absent: none came. */
  refused?: { count: number, reason: string }
  /** When it waited for answers that came: from, and until when. Absent: none has come. */
  waits?: Array<[from: number, to: number]>
}

export function decodeAsked (text: string | null | undefined): AskedRecord | undefined {
  return text === null || text === undefined ? undefined : readStored('how far a question is', text, isAsked)
}

function isAsked (value: unknown): value is AskedRecord {
  return isRecord(value) && typeof value['state'] === 'string' && [value['number'], value['at'], value['ends']].every(Number.isFinite)
}

export function readQuestion (text: string): Question {
  return readStored('the question of a tool', text, isQuestion)
}

function isQuestion (value: unknown): value is Question {
  return isRecord(value) && typeof value['name'] === 'string' && typeof value['text'] === 'string' && isRecord(value['schema'])
}

export function questionView ({ name, text, schema }: Question, { number, at, ends, refused }: AskedRecord): QuestionView {
  return { number, name, text, schema, asked_at: isoTime(at), expires_at: isoTime(ends), ...refused !== undefined && { refused } }
}

/** What those who wait for a job hear when its tool asks something. */
export function inputRequired (question: Question, asked: AskedRecord): CallError {
  return { code: 'INPUT_REQUIRED', message: `The tool asks: ${question.text}`, details: { question: questionView(question, asked) } }
}

/** The same by the values of the two fields; undefined for a job that asks nothing now. */
export function decodeQuestion (asked: string | null | undefined, question: string | null | undefined): Settlement | undefined {
  const record = decodeAsked(asked)
  if (record?.state !== 'asked' || question === null || question === undefined) return undefined
  return { ok: false, error: inputRequired(readQuestion(question), record) }
}

/** How a job ends whose question nobody has answered. */
export const inputExpired: CallError = { code: 'INPUT_EXPIRED', message: 'Nobody answered the question of the tool in time' }

/** Whether the tool of a job has asked something: one that has was run before. */
export function hasAsked ({ opts }: { opts: object }): boolean {
  const own: OwnOptions = opts
  return own.asked === 1
}
