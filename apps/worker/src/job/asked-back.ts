import { isRecord, limits, writeJson } from '@toolyard/contract/terms'
import type { Outcome } from '@toolyard/executors'
import type { AnswerSchemas, Tool } from '@toolyard/manifests'
import type { HandlerResult } from '@toolyard/queue'

/** The one field of an output that asks something. */
const askKey = '$ask'
const namePattern = /^[\w-]{1,64}$/
const largeAsk = /^\s*\{\s*"\$ask"/

type AskResult = Extract<HandlerResult, { kind: 'asks' | 'failed' }>

/** What is known of a call whose tool may have asked something. */
export interface Asking {
  tool: Tool
  /** It may run again from its start. */
  mayAsk: boolean
  answered: number
  schemas: Pick<AnswerSchemas, 'fault'>
}

/**
 * What a tool asks: an output of a command or a Python tool whose only field is `$ask`, or what an MCP server asks during a call.
 * What others give out comes from elsewhere and asks nobody here.
 *
 * @returns undefined for any other outcome; a failure for a question that can't be asked.
 */
export async function askedBack (outcome: Outcome, asking: Asking): Promise<AskResult | undefined> {
  const { kind } = asking.tool.run
  if (!outcome.ok) {
    if (outcome.ask === undefined) return undefined
    const { memo, ...question } = outcome.ask
    const asked = await checked(question, asking, 'question')
    return asked.kind === 'asks' ? { kind: 'asks', ask: { ...asked.ask, memo } } : asked
  }
  if (kind !== 'command' && kind !== 'python') return undefined
  if (outcome.json !== undefined) return largeAsk.test(outcome.json.toString('utf8', 0, 100)) ? invalid('it is too long') : undefined
  const { output } = outcome
  if (!isRecord(output) || !(askKey in output) || Object.keys(output).length !== 1) return undefined
  return await checked(output[askKey], asking, askKey)
}

/** @param called how messages call the question. */
async function checked (question: unknown, asking: Asking, called: string): Promise<AskResult> {
  if (!asking.mayAsk) return invalid("the tool runs again from its start with the answer, so its entry must say that it is idempotent, or '\"asks\": true'")
  if (asking.answered >= limits.question.most) return invalid(`a call asks at most ${limits.question.most} questions`)
  const { name = 'answer', text, schema } = isRecord(question) ? question : {}
  if (typeof name !== 'string' || !namePattern.test(name)) return invalid(`'${called}.name' must be 1 to 64 letters, digits, _ or -`)
  if (typeof text !== 'string' || text.trim() === '') return invalid(`'${called}.text' must be the question`)
  if (text.length > limits.question.textChars) return invalid(`'${called}.text' has more than ${limits.question.textChars} characters`)
  if (!isRecord(schema)) return invalid(`'${called}.schema' must be the JSON Schema of the answer`)
  if (writeJson(schema).length > limits.question.schemaChars) return invalid(`'${called}.schema' has more than ${limits.question.schemaChars} characters`)
  const fault = await asking.schemas.fault(schema)
  return fault === undefined ? { kind: 'asks', ask: { name, text, schema } } : invalid(`'${called}.schema' can't be used: ${fault}`)
}

function invalid (why: string): AskResult {
  return { kind: 'failed', error: { code: 'QUESTION_INVALID', message: `The tool asked something back, but ${why}` } }
}
