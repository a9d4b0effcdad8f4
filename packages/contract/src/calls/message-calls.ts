import { isRecord } from '../value/record.ts'

/** The fields of a batch that take a provider's message, and the provider's API that each is of. */
export const messageForms = { tool_calls: 'chat', output: 'responses', content: 'anthropic' } as const
export type MessageField = keyof typeof messageForms
/** Chat completions, the Responses API, and Anthropic's messages. */
export type MessageFormat = (typeof messageForms)[MessageField]
export const messageFormats: readonly MessageFormat[] = Object.values(messageForms)

/** A call as it stands in a provider's message, whatever its values. */
export interface MessageCall {
  /** Where it stands in the request. */
  at: string
  /** Name of the field that holds its id, and what is in it. */
  idField: string
  id: unknown
  name: unknown
  /** A JSON text or an object where it is as it should be. */
  arguments: unknown
  /** The model called a tool that takes any text: no tool of ours. */
  custom: boolean
  /** The provider says that the message ended before the call did. */
  incomplete: boolean
}

/** The calls among the items of a provider's message, in their order; all else in it is for others. */
export function findCalls (field: MessageField, items: readonly unknown[]): MessageCall[] {
  return items.flatMap((item, index) => {
    const call = isRecord(item) ? readers[field](item) : undefined
    return call === undefined ? [] : [{ custom: false, incomplete: false, ...call, at: `${field}[${index}]` }]
  })
}

type Read = Pick<MessageCall, 'idField' | 'id' | 'name' | 'arguments'> & Partial<MessageCall>

const readers: Readonly<Record<MessageField, (item: Record<string, unknown>) => Read | undefined>> = {
  tool_calls: item => {
    // Some servers leave the type out.
    const kind = item['type'] ?? (isRecord(item['function']) ? 'function' : undefined)
    if (kind !== 'function' && kind !== 'custom') return undefined
    const inner = isRecord(item[kind]) ? item[kind] : {}
    return { idField: 'id', id: item['id'], name: inner['name'], arguments: inner['arguments'], custom: kind === 'custom' }
  },
  output: ({ type, call_id: id, name, arguments: args, status }) => {
    if (type !== 'function_call' && type !== 'custom_tool_call') return undefined
    return { idField: 'call_id', id, name, arguments: args, custom: type === 'custom_tool_call', incomplete: status === 'incomplete' }
  },
  content: ({ type, id, name, input }) => type === 'tool_use' ? { idField: 'id', id, name, arguments: input } : undefined
}
