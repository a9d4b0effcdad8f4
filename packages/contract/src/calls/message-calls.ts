import { isAbsent } from '../value/fields.ts'
import { isRecord } from '../value/record.ts'
import { pieceText, readItem, type MessageCall } from './message-items.ts'

/** The calls of a message in their order; none, and a sentence, where something in it can't be read. */
interface FoundCalls {
  calls: MessageCall[]
  problem?: string
}

/** Lists that hold nothing but calls. They count where texts beside them have the same calls again. */
const callLists = ['tool_calls', 'invalid_tool_calls', 'toolCalls', 'functionCalls', 'function_calls'] as const
/** Lists of everything that a model said. */
const mixedLists = ['output', 'content', 'parts'] as const
/** Fields that hold a whole message. */
const wrappers = ['message', 'response', 'kwargs'] as const

/** What Gemini says in place of `candidates` of a prompt that it didn't answer. */
const unanswered = ['promptFeedback', 'prompt_feedback'] as const

/** Fields of a body in which a message comes. */
export const messageFields = [...callLists, ...mixedLists, ...wrappers, ...unanswered, 'function_call', 'choices', 'candidates'] as const

/** Whether a body is a message as a whole, whose other fields are for others. */
export function isWholeMessage (body: Record<string, unknown>): boolean {
  return wholeFields.some(field => !isAbsent(body[field])) || isRecord(body['output']) || isRecord(body['content'])
}

const wholeFields = [
  ...wrappers, ...unanswered, 'choices', 'candidates', 'role', 'object', 'type', 'additional_kwargs', 'finish_reason', 'finishReason', 'stop_reason', 'stopReason'
]

/** The calls of a message of any of the known shapes, or of what stands around it. */
export function findCalls (message: Record<string, unknown>, at = ''): FoundCalls {
  const place = (field: string): string => at === '' ? field : `${at}.${field}`
  if (isEvent(message)) return unreadable(pieceText(at === '' ? 'The body' : at))
  for (const [field, inner] of [['choices', 'message'], ['candidates', 'content']] as const) {
    if (!isAbsent(message[field])) return ofAlternatives(message[field], place(field), inner)
  }
  const found: FoundCalls[] = callLists.map(field => ofList(message[field], field, place(field)))
  found.push(ofLegacy(message['function_call'], place('function_call')))
  const calls = together(found)
  const rest = together([...mixedLists, ...wrappers].map(field => ofField(message[field], field, place(field))))
  return cut(withoutRepeats(calls, rest), message)
}

function ofField (value: unknown, field: string, at: string): FoundCalls {
  if (isRecord(value) && field !== 'parts') return findCalls(value, at)
  if (typeof value === 'string' && field === 'content') return none
  return isWrapper(field) && !isAbsent(value) ? unreadable(`'${at}' must be an object`) : ofList(value, field, at)
}

function isWrapper (field: string): boolean {
  return wrappers.some(each => each === field)
}

const none: FoundCalls = { calls: [] }

function unreadable (problem: string): FoundCalls {
  return { calls: [], problem }
}

function ofList (items: unknown, field: string, at: string): FoundCalls {
  if (isAbsent(items)) return none
  if (!Array.isArray(items)) return unreadable(`'${at}' must be an array`)
  const calls: MessageCall[] = []
  for (const [index, item] of items.entries()) {
    const read = readItem(item, field, `${at}[${index}]`)
    if (typeof read === 'string') return unreadable(read)
    if (read !== undefined) calls.push(field === 'toolCalls' && read.format === 'chat' ? { ...read, format: 'mistral' } : read)
  }
  return { calls }
}

/** The call of chat completions before there were several in a message. */
function ofLegacy (value: unknown, at: string): FoundCalls {
  if (isAbsent(value)) return none
  if (!isRecord(value)) return unreadable(`'${at}' must be an object`)
  return { calls: [{ at, format: 'function', idField: 'id', id: undefined, name: value['name'], arguments: value['arguments'] }] }
}

/** The answers that a model gave to choose from: one of them may have calls. */
function ofAlternatives (list: unknown, at: string, inner: string): FoundCalls {
  if (!Array.isArray(list)) return unreadable(`'${at}' must be an array`)
  let found: FoundCalls = none
  for (const [index, item] of list.entries()) {
    const place = `${at}[${index}]`
    if (!isRecord(item)) return unreadable(`${place} must be an object`)
    if (isRecord(item['delta']) && !isRecord(item[inner])) return unreadable(pieceText(place))
    const own = isRecord(item[inner]) ? cut(findCalls(item[inner], `${place}.${inner}`), item) : none
    if (own.problem !== undefined) return own
    if (own.calls.length > 0 && found.calls.length > 0) return unreadable(`${place} has calls beside those of another of '${at}': send the one that is answered`)
    if (own.calls.length > 0) found = own
  }
  return found
}

function together (found: readonly FoundCalls[]): FoundCalls {
  return found.find(({ problem }) => problem !== undefined) ?? { calls: found.flatMap(({ calls }) => calls) }
}

/** LangChain's messages have calls in a list, and once more as the provider sent them. */
function withoutRepeats (first: FoundCalls, rest: FoundCalls): FoundCalls {
  if (first.problem !== undefined) return first
  if (first.calls.length === 0) return rest
  const ids = new Set(first.calls.map(({ id }) => id))
  const more = rest.calls.find(({ id }) => !ids.has(id))
  return more === undefined ? first : unreadable(`${more.at} and ${first.calls[0]?.at} can't come together: send the calls in one list`)
}

/** A provider that stops at its limit says so beside the message: what the model said last isn't whole. */
function cut (found: FoundCalls, around: Record<string, unknown>): FoundCalls {
  const reasons = ['finish_reason', 'finishReason', 'stop_reason', 'stopReason'].map(field => around[field])
  const last = found.calls.at(-1)
  if (last === undefined || !reasons.some(reason => typeof reason === 'string' && limitReached.test(reason))) return found
  return { calls: [...found.calls.slice(0, -1), { ...last, incomplete: true }] }
}

const limitReached = /^(?:length|max_tokens|model_context_window_exceeded|malformed_function_call|malformed_tool_use)$/i

/** One event of a stream; those at its end have the whole response. */
function isEvent ({ object, type }: Record<string, unknown>): boolean {
  if (object === 'chat.completion.chunk') return true
  return typeof type === 'string' && /^(?:content_block_|message_|response\.(?!completed$|incomplete$|failed$|done$))/.test(type)
}
