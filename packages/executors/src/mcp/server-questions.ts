import { around, isRecord, readJson, storedJson, writeJson } from '@toolyard/contract/terms'
import { createHash } from 'node:crypto'
import type { AskedBack, RunContext } from '../run/outcome.ts'

/*
 * What an MCP server asks during a call is the question of its job. The run ends with it, and the call is made again with the answer.
 *
 * A server of 2025 asks while its call runs: in the next run it asks again, and gets the answer to the same question. One of 2026
 * answers with what it asks, all at once; the next call brings the answers along.
 */

/** What the next run has to know, kept with the question. */
type Memo =
  /** Digests of the questions, in the order of the answers. */
  | { kind: 'asked', digests: string[] }
  /** What the server wants back, which answer is the first of this round, and what it asks in it. */
  | { kind: 'required', state?: string, from: number, requests: Request[] }

interface Request {
  key: string
  text: unknown
  schema: unknown
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

  /** What is left to be asked before the call is made again. */
  get left (): AskedBack | undefined {
    if (this.#memo?.kind !== 'required') return undefined
    const { requests, from } = this.#memo
    const next = requests[this.#answers.length - from]
    return next && this.#ask(next, this.#memo)
  }

  /** What the call brings along. */
  get brought (): { inputResponses?: Record<string, object>, requestState?: string } {
    if (this.#memo?.kind !== 'required') return {}
    const { state, requests, from } = this.#memo
    const responses = requests.map(({ key }, at) => [key, around({ action: 'accept', content: this.#answers[from + at] })] as const)
    const inputResponses = around(Object.fromEntries(responses))
    return { ...requests.length > 0 && { inputResponses }, ...state !== undefined && { requestState: state } }
  }

  /** The answer to what a server of 2025 asks, or the question that ends the run; a text says why it can't be asked. */
  asked (params: unknown): { answer: Record<string, unknown> } | AskedBack | string {
    if (!isRecord(params) || (params['mode'] ?? 'form') !== 'form') return noForm
    const { message: text, requestedSchema: schema } = params
    const digest = createHash('sha256').update(writeJson([text, schema])).digest('base64url')
    const digests = this.#memo?.kind === 'asked' ? this.#memo.digests : this.#answers.map(() => '')
    const at = digests.findIndex((each, at) => each === digest && !this.#used.has(at))
    const answer = this.#answers[at]
    if (answer !== undefined) {
      this.#used.add(at)
      return { answer }
    }
    return this.#ask({ text, schema }, { kind: 'asked', digests: [...digests.slice(0, this.#answers.length), digest] })
  }

  /** What a server of 2026 answers in place of a result: the first of its questions; undefined where it only wants to be called again. */
  required (result: Record<string, unknown>): AskedBack | string | undefined {
    const { inputRequests = {}, requestState: state } = result
    if (!isRecord(inputRequests) || (state !== undefined && typeof state !== 'string')) return 'what it asks has no form that is known'
    const requests: Request[] = []
    for (const [key, request] of Object.entries(inputRequests)) {
      const { method, params }: Record<string, unknown> = isRecord(request) ? request : {}
      if (method !== 'elicitation/create') return `it asks for ${JSON.stringify(method)}, and only elicitation/create is served`
      if (!isRecord(params) || (params['mode'] ?? 'form') !== 'form') return noForm
      requests.push({ key, text: params['message'], schema: params['requestedSchema'] })
    }
    if (requests.length === 0 && state === undefined) return 'it asks for nothing'
    this.#memo = { kind: 'required', ...state !== undefined && { state }, from: this.#answers.length, requests }
    if (JSON.stringify(this.#memo).length > mostMemoChars) return `what it asks and its requestState have more than ${mostMemoChars} characters`
    return this.left
  }

  #ask ({ text, schema }: Pick<Request, 'text' | 'schema'>, memo: Memo): AskedBack {
    return { text, schema, memo: JSON.stringify(memo) }
  }
}

const noForm = 'it asks for something else than a form: a page that the user opens is not passed on'
