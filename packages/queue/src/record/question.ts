import type { AskedQuestion, QuestionView, Settlement } from '@toolyard/contract'
import { isRecord, type CallError, type QuestionKind } from '@toolyard/contract/terms'
import { readStored } from '@toolyard/store'
import { isoTime } from './job-times.ts'
import type { OwnOptions } from './new-job.ts'

/*
 * A question of a job's tool to whoever called it: kept in fields of the job's record. How far it is stands by itself, since lists
 * read it. Answers are lines of JSON, as they came, each at the place of its question: a tool that runs again gets all of them.
 *
 * States: asked -> asked, with fewer open questions -> answered: all are (the job runs again) -> asked, with the next numbers
 *               -> expired: the job ends
 * See docs/decisions/0091-held-calls.md.
 */

export const askedField = 'asked'
export const questionField = 'question'
export const answersField = 'answers'

export interface Question {
  /** Its tool's name for it. */
  name: string
  /** Absent: a form. */
  kind?: QuestionKind
  text: string
  /** Of a kind that has some. */
  params?: Record<string, unknown>
  /** JSON Schema of the answer, an object. */
  schema: Record<string, unknown>
}

/** All that a tool asks at once: the first question, and the others. */
export interface Questions extends Question {
  more?: Question[]
  /** For the next run alone. */
  memo?: string
}

/** How far the last questions are. Times are milliseconds since 1970, by Redis' clock. */
export interface AskedRecord {
  state: 'asked' | 'answered' | 'expired'
  /** Of the first one, from 1 on. */
  number: number
  /** Numbers of those that nobody has answered; absent: the first one. */
  open?: number[]
  at: number
  ends: number
  /** How many answers of a client of tasks didn't fit, and why the last one didn't, by numbers. */
  refused?: Record<string, { count: number, reason: string }>
  /** When it waited for answers that came: from, and until when. Absent: none has come. */
  waits?: Array<[from: number, to: number]>
}

export function decodeAsked (text: string | null | undefined): AskedRecord | undefined {
  return text === null || text === undefined ? undefined : readStored('how far a question is', text, isAsked)
}

function isAsked (value: unknown): value is AskedRecord {
  return isRecord(value) && typeof value['state'] === 'string' && [value['number'], value['at'], value['ends']].every(Number.isFinite)
}

export function readQuestions (text: string): Questions {
  return readStored('the question of a tool', text, isQuestions)
}

function isQuestions (value: unknown): value is Questions {
  return isQuestion(value) && (!('more' in value) || (Array.isArray(value.more) && value.more.every(isQuestion)))
}

function isQuestion (value: unknown): value is Question {
  return isRecord(value) && typeof value['name'] === 'string' && typeof value['text'] === 'string' && isRecord(value['schema'])
}

/** How often a job has asked, be it one question or several at once: each time has ended a run, and the job then counted as not taken. */
export function timesAsked (record: AskedRecord | undefined): number {
  if (record === undefined) return 0
  const { state, waits = [] } = record
  return waits.length + (state === 'answered' ? 0 : 1)
}

/** Those that are open. */
export function questionView (
  { more = [], ...only }: Questions, { number: first, open = [first], at, ends, refused = {} }: AskedRecord
): QuestionView {
  const all = [only, ...more]
  const viewOf = (number: number): AskedQuestion => {
    const { name, kind = 'form', text, params, schema } = all[number - first] ?? only
    const refusal = refused[number]
    return { number, name, kind, text, ...params !== undefined && { params }, schema, ...refusal !== undefined && { refused: refusal } }
  }
  const [question = viewOf(first), ...others] = open.map(viewOf)
  return { ...question, asked_at: isoTime(at), expires_at: isoTime(ends), ...others.length > 0 && { more: others } }
}

/** For those who wait for a job when its tool asks something. */
export function inputRequired (questions: Questions, asked: AskedRecord): CallError {
  return { code: 'INPUT_REQUIRED', message: `The tool asks: ${questions.text}`, details: { question: questionView(questions, asked) } }
}

/** The same by the values of the two fields; undefined for a job that asks nothing now. */
export function decodeQuestion (asked: string | null | undefined, question: string | null | undefined): Settlement | undefined {
  const record = decodeAsked(asked)
  if (record?.state !== 'asked' || question === null || question === undefined) return undefined
  return { ok: false, error: inputRequired(readQuestions(question), record) }
}

/** How a job ends whose question nobody has answered. */
export const inputExpired: CallError = { code: 'INPUT_EXPIRED', message: 'Nobody answered the question of the tool in time' }

/** Whether the tool of a job has asked something: one that has was run before. */
export function hasAsked ({ opts }: { opts: object }): boolean {
  const own: OwnOptions = opts
  return own.asked === 1
}
