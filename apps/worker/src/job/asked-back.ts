import { isQuestionKind, isRecord, limits, questionKinds, writeJson } from '@toolyard/contract/terms'
import type { Outcome } from '@toolyard/executors'
import type { AnswerSchemas, Tool } from '@toolyard/manifests'
import type { HandlerResult, Question } from '@toolyard/queue'

/** The one field of an output that asks something. */
const askKey = '$ask'
/** No request with `__proto__` is taken: nobody could answer it. */
const namePattern = /^(?!__proto__$)[\w-]{1,64}$/
const largeAsk = /^\s*\{\s*"\$ask"/

type AskResult = Extract<HandlerResult, { kind: 'asks' | 'failed' }>

/** A call whose tool may have asked something. */
export interface Asking {
  tool: Tool
  /** It may run again from its start. */
  mayAsk: boolean
  answered: number
  /** Whose call it is. */
  owner: string
  schemas: AnswerSchemas
}

/**
 * A tool's questions, one or a list: an output of a command or a Python tool whose only field is `$ask`, or what an MCP server
 * asks during a call.
 * An output that others give out comes from elsewhere and asks nobody here.
 *
 * @returns undefined for any other outcome; a failure for a question that can't be asked.
 */
export async function askedBack (outcome: Outcome, asking: Asking): Promise<AskResult | undefined> {
  const { kind } = asking.tool.run
  if (!outcome.ok) {
    if (outcome.ask === undefined) return undefined
    const { memo, questions } = outcome.ask
    const asked = await checked(questions, asking, 'question')
    return asked.kind === 'asks' ? { kind: 'asks', ask: { ...asked.ask, memo } } : asked
  }
  if (kind !== 'command' && kind !== 'python') return undefined
  if (outcome.json !== undefined) return largeAsk.test(outcome.json.toString('utf8', 0, 100)) ? invalid('it is too long') : undefined
  const { output } = outcome
  if (!isRecord(output) || !(askKey in output) || Object.keys(output).length !== 1) return undefined
  return await checked(output[askKey], asking, askKey)
}

/** @param called how messages call the question. */
async function checked (asks: unknown, asking: Asking, called: string): Promise<AskResult> {
  if (!asking.mayAsk) return invalid("the tool runs again from its start with the answer, so its entry must say that it is idempotent, or '\"asks\": true'")
  const list: unknown[] = Array.isArray(asks) ? asks : [asks]
  if (asking.answered + list.length > limits.question.most) return invalid(`a call asks at most ${limits.question.most} questions`)
  const questions: Question[] = []
  for (const [place, sent] of list.entries()) {
    const question = await questionOf(sent, list.length > 1 ? `${called}[${place}]` : called, asking, place)
    if (typeof question === 'string') return invalid(question)
    if (questions.some(({ name }) => name === question.name)) return invalid(`two questions at once have the name ${question.name}`)
    questions.push(question)
  }
  const [first, ...more] = questions
  if (first === undefined) return invalid(`'${called}' is an empty list`)
  return { kind: 'asks', ask: { ...first, ...more.length > 0 && { more } } }
}

/** A text says why it can't be asked. */
async function questionOf (sent: unknown, called: string, { schemas, owner }: Asking, place: number): Promise<Question | string> {
  const { kind = 'form', name = place === 0 ? 'answer' : `answer_${place + 1}`, ...given }: Record<string, unknown> = isRecord(sent) ? sent : {}
  if (!isQuestionKind(kind)) return `'${called}.kind' must be ${Object.keys(questionKinds).join(', ')}`
  const fixed = questionKinds[kind]
  const { text = fixed.text, schema = fixed.answer } = given
  if (typeof name !== 'string' || !namePattern.test(name)) return `'${called}.name' must be 1 to 64 letters, digits, _ or -, and not __proto__`
  if (typeof text !== 'string' || text.trim() === '') return `'${called}.text' must be the question`
  if (text.length > limits.question.textChars) return `'${called}.text' has more than ${limits.question.textChars} characters`
  if (!isRecord(schema)) return `'${called}.schema' must be the JSON Schema of the answer`
  if (fixed.answer !== undefined && schema !== fixed.answer) return `'${called}.schema' can't be chosen: answers to ${kind} are those of MCP`
  if (writeJson(schema).length > limits.question.schemaChars) return `'${called}.schema' has more than ${limits.question.schemaChars} characters`
  const fault = fixed.answer === undefined ? await schemas.fault(schema, owner) : undefined
  if (fault !== undefined) return `'${called}.schema' can't be used: ${fault}`
  const question = { name, ...kind !== 'form' && { kind }, text, schema }
  if (fixed.params === undefined) return question
  const { params } = given
  if (!isRecord(params)) return `'${called}.params' must be those of ${fixed.method}`
  if (writeJson(params).length > limits.question.paramsChars) return `'${called}.params' have more than ${limits.question.paramsChars} characters`
  const fit = await schemas.check(fixed.params, params, owner)
  if ('answer' in fit) return { ...question, params }
  const [first] = fit.issues
  return `'${called}.params' don't fit ${fixed.method}: ${first?.path ?? '/'} ${first?.message ?? ''}`
}

function invalid (why: string): AskResult {
  return { kind: 'failed', error: { code: 'QUESTION_INVALID', message: `The tool asked something back, but ${why}` } }
}
