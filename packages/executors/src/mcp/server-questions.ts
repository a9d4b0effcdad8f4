import { around, isQuestionKind, isRecord, questionKinds, readJson, storedJson, writeJson, type QuestionKind } from '@toolyard/contract/terms'
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { createHash } from 'node:crypto'
import { failure, type AskedBack, type AskedQuestion, type Outcome, type RunContext } from '../run/outcome.ts'

/*
 * A question of an MCP server during a call is a question of its job. The run ends with it, and the call is made again with the answer.
 *
 * A server of 2025 asks while its call runs: in the next run it asks again, and gets the answer to the same question. One of 2026
 * answers with what it asks, all at once; the next call brings the answers along.
 */

/** Kept with the question for the next run. */
type Memo =
  /** Digests of the questions, in the order of the answers. */
  | { kind: 'asked', digests: string[] }
  /** The state that the server wants back, which answer is the first of this round, and its questions. */
  | { kind: 'required', state?: string, from: number, requests: Request[] }

interface Request extends AskedQuestion {
  key: string
}

/** Characters of what is kept for the next run: most of it is the state of the server. */
const mostMemoChars = 65_536

/** The questions of one run of a call. */
export class ServerQuestions {
  readonly #answers: ReadonlyArray<Record<string, unknown>>
  readonly #used = new Set<number>()
  #memo: Memo | undefined

  constructor ({ answers = [], memo }: Pick<RunContext, 'answers' | 'memo'>) {
    // Answers are objects: they were checked against the schema of their question.
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- As above.
    this.#answers = answers.map(answer => readJson(answer) as Record<string, unknown>)
    this.#memo = memo === undefined ? undefined : storedJson<Memo>(memo)
  }

  get brought (): { inputResponses?: Record<string, object>, requestState?: string } {
    if (this.#memo?.kind !== 'required') return {}
    const { state, requests, from } = this.#memo
    const responses = requests.map(({ key, kind }, at) => [key, said(kind, this.#answers[from + at] ?? {})] as const)
    const inputResponses = around(Object.fromEntries(responses))
    return { ...requests.length > 0 && { inputResponses }, ...state !== undefined && { requestState: state } }
  }

  /** The answer that a server of 2025 gets, or the question that ends the run; a text says why it can't be asked. */
  asked (method: unknown, params: unknown): { answer: Record<string, unknown> } | AskedBack | string {
    const question = questionIn(method, params)
    if (typeof question === 'string') return question
    const { kind, text, schema, params: about } = question
    const digest = createHash('sha256').update(writeJson(kind === 'form' ? [text, schema] : [kind, about ?? null])).digest('base64url')
    const digests = this.#memo?.kind === 'asked' ? this.#memo.digests : this.#answers.map(() => '')
    const at = digests.findIndex((each, at) => each === digest && !this.#used.has(at))
    const answer = this.#answers[at]
    if (answer !== undefined) {
      this.#used.add(at)
      return { answer: said(kind, answer) }
    }
    return this.#ask([question], { kind: 'asked', digests: [...digests.slice(0, this.#answers.length), digest] })
  }

  /** A server of 2026 answers with questions in place of a result; undefined where it only wants to be called again. */
  required (result: Record<string, unknown>): AskedBack | string | undefined {
    const { inputRequests = {}, requestState: state } = result
    if (!isRecord(inputRequests) || (state !== undefined && typeof state !== 'string')) return 'what it asks has no form that is known'
    const requests: Request[] = []
    for (const [key, request] of Object.entries(inputRequests)) {
      const question = isRecord(request) ? questionIn(request['method'], request['params']) : questionIn(undefined, undefined)
      if (typeof question === 'string') return question
      requests.push({ key, ...question })
    }
    if (requests.length === 0 && state === undefined) return 'it asks for nothing'
    this.#memo = { kind: 'required', ...state !== undefined && { state }, from: this.#answers.length, requests }
    if (JSON.stringify(this.#memo).length > mostMemoChars) return `what it asks and its requestState have more than ${mostMemoChars} characters`
    return requests.length === 0 ? undefined : this.#ask(requests.map(({ key, ...question }) => question), this.#memo)
  }

  #ask (questions: AskedQuestion[], memo: Memo): AskedBack {
    return { questions, memo: JSON.stringify(memo) }
  }
}

/** A request of a server as the question that it is; a text says why it is none. */
function questionIn (method: unknown, params: unknown): AskedQuestion | string {
  const kind = Object.keys(questionKinds).filter(isQuestionKind).find(kind => questionKinds[kind].method === method)
  if (kind === undefined) return `it asks for ${String(JSON.stringify(method)).slice(0, 100)}, which nobody answers here`
  const { _meta: ownMeta, task, ...about }: Record<string, unknown> = isRecord(params) ? params : {}
  const { text } = questionKinds[kind]
  if (kind !== 'form') return { kind, text, ...kind === 'sampling' && { params: about } }
  return (about['mode'] ?? 'form') === 'form' ? { kind, text: about['message'], schema: about['requestedSchema'] } : noForm
}

/** An answer as a server hears it. */
function said (kind: QuestionKind, answer: Record<string, unknown>): Record<string, unknown> {
  return kind === 'form' ? around({ action: 'accept', content: answer }) : answer
}

/** Who answers must know that it isn't the service that asks. */
export function asking (name: string, { questions, memo }: AskedBack): Outcome {
  const from = `MCP server ${JSON.stringify(name)} asks`
  const told = questions.map(({ text, ...rest }) => ({ ...rest, text: typeof text === 'string' && text.trim() !== '' ? `${from}: ${text}` : text }))
  return { ...failure('QUESTION_INVALID', `${from} something back`), ask: { questions: told, memo } }
}

/** For a server that may ask at all. */
export const askedCapabilities = { elicitation: { form: {} }, sampling: {}, roots: {} }

/**
 * A server of 2025 hears nothing of roots when its session begins: it would keep what one caller answers for the calls of all others,
 * and asks as soon as the session begins, in whatever call runs then. One of 2026 asks in its answer to a call.
 */
export function withoutRoots (message: JSONRPCMessage): JSONRPCMessage {
  if (!('method' in message) || message.method !== 'initialize') return message
  const { roots, ...capabilities }: Record<string, unknown> = { ...isRecord(message.params?.['capabilities']) && message.params['capabilities'] }
  return { ...message, params: { ...message.params, capabilities } }
}

/** For a server where nobody can be asked. @throws an error, where that is no answer */
export async function nobodyAnswers (method: string): Promise<Record<string, unknown>> {
  if (method !== questionKinds.form.method) throw new Error('Nobody can be asked')
  return { action: 'cancel' }
}

/** Questions of a call that was given up get no answer: a server that doesn't know of the end would go on with one. */
export async function never (): Promise<never> {
  return await new Promise(() => {})
}

/** Runs one thing after the other, but those whose time is over. The next one begins when `after` is done, too. */
export function createTurns (): <T>(signal: AbortSignal, run: () => Promise<T>, after: () => Promise<void>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return async (signal, run, after) => {
    const turn = last.then(async () => {
      signal.throwIfAborted()
      return await run()
    })
    last = turn.catch(() => {}).then(after)
    return await turn
  }
}

const noForm = 'it asks for something else than a form: a page that the user opens is not passed on'
