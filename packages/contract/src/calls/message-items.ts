import { firstChars } from '../value/first-chars.ts'
import { limits } from '../terms/limits.ts'
import { isRecord } from '../value/record.ts'

/** Whose shape a call has, and its answer: the APIs of the providers, and the libraries that have shapes of their own. */
export const messageFormats = ['chat', 'responses', 'anthropic', 'gemini', 'bedrock', 'langchain', 'ai-sdk', 'mistral', 'function'] as const
export type MessageFormat = (typeof messageFormats)[number]

/**
 * Facts for answers beside the format: the call was for a tool that takes any text; Ollama sent it, which knows
 * answers by the name of the tool; it is of the AI SDK 4; its names have underscores where the API's own have none.
 */
export type MessageDialect = 'custom' | 'ollama' | 'ai-sdk-4' | 'snake'

/** A call as it stands in a provider's message, whatever its values. */
export interface MessageCall {
  /** Where it stands in the request. */
  at: string
  format: MessageFormat
  dialect?: MessageDialect
  /** Name of the field that holds its id, and what is in it. */
  idField: string
  id: unknown
  name: unknown
  /** A JSON text or an object where it is as it should be. */
  arguments: unknown
  /** The id of the program of the Responses API that has made the call; its answer says it again. */
  program?: string
  /** The provider says that the message ended before the call did. */
  incomplete?: boolean
}

/**
 * Reads one item of a list of a message.
 *
 * @param field the list's name.
 * @returns undefined where the item is known and no call, a sentence where nobody knows what it is.
 */
export function readItem (item: unknown, field: string, at: string): MessageCall | undefined | string {
  if (typeof item === 'string' && field === 'content') return undefined
  if (!isRecord(item)) return `${at} must be an object`
  const { type } = item
  const read = typeof type === 'string' ? typed(item, type) : untyped(item, field)
  if (read === 'unknown') return unknownText(item, at)
  if (read === 'piece') return pieceText(at)
  return read === undefined ? undefined : { ...read, at }
}

export function pieceText (at: string): string {
  return `${at} is a piece of a stream: put the pieces together and send the whole message`
}

function unknownText ({ type, jsonrpc, method }: Record<string, unknown>, at: string): string {
  if (jsonrpc !== undefined || typeof method === 'string') return `${at} is a message of the Model Context Protocol: send it to /mcp`
  const what = typeof type === 'string' ? `is of the type '${firstChars(type, 80)}', which` : 'has a shape that'
  return `${at} ${what} is not known here: take it out if it is no call, else send it as {"call_id", "name", "arguments"} in 'calls'`
}

type Item = Record<string, unknown>
type Read = Omit<MessageCall, 'at'> | undefined | 'unknown' | 'piece'

function typed (item: Item, type: string): Read {
  const { id, call_id: callId = id, name, arguments: args, status } = item
  const program = programOf(item)
  switch (type) {
    case 'function': return chatCall(item, isRecord(item['function']) ? item['function'] : item)
    // The AI SDK has parts of this type that say of which kind they are, and are no calls.
    case 'custom': return typeof item['kind'] === 'string' ? undefined : { format: 'chat', dialect: 'custom', idField: 'id', id, name: nameIn(item['custom']), arguments: undefined }
    case 'function_call': return { format: 'responses', idField: 'call_id', id: callId, name, arguments: args, ...program, incomplete: status === 'incomplete' }
    case 'custom_tool_call': return { format: 'responses', dialect: 'custom', idField: 'call_id', id: callId, name, arguments: undefined, ...program }
    case 'tool_use': return { format: 'anthropic', idField: 'id', id, name, arguments: streamedInput(item) }
    case 'tool-call': return aiSdkCall(item)
    case 'tool_call':
    case 'invalid_tool_call': return { format: 'langchain', idField: 'id', id, name, arguments: item['args'] }
    default:
      if (noCalls.has(type) || noCall.test(type)) return undefined
      return piece.test(type) ? 'piece' : 'unknown'
  }
}

function programOf ({ caller }: Item): { program?: string } {
  if (!isRecord(caller) || caller['type'] !== 'program') return {}
  const { caller_id: id } = caller
  return typeof id === 'string' && id.length <= limits.messageCallIdLength ? { program: id } : {}
}

/** Libraries that put a stream together leave `input` as it began, and have the text beside it. */
function streamedInput ({ input, partial_json: json }: Item): unknown {
  return typeof json === 'string' && isRecord(input) && Object.keys(input).length === 0 ? json : input
}

function untyped (item: Item, field: string): Read {
  const { function: inner, toolUse, functionCall, function_call: snake, id, name, role, content } = item
  if (isRecord(inner)) return chatCall(item, inner)
  if (isRecord(toolUse)) return { format: 'bedrock', idField: 'toolUse.toolUseId', id: toolUse['toolUseId'], name: toolUse['name'], arguments: toolUse['input'] }
  if (isRecord(functionCall)) return geminiCall(functionCall, 'functionCall.id')
  if (isRecord(snake)) return { ...geminiCall(snake, 'function_call.id'), dialect: 'snake' }
  if (typeof name === 'string' && 'args' in item) return field === 'tool_calls' ? { format: 'langchain', idField: 'id', id, name, arguments: item['args'] } : geminiCall(item, 'id')
  if (typeof name === 'string' && flatArguments.some(key => key in item)) return chatCall(item, item)
  if (isOfServer(item['toolCall'] ?? item['tool_call'])) return undefined
  if (typeof role === 'string') return typeof content === 'string' ? undefined : 'unknown'
  const keys = Object.keys(item).filter(key => item[key] !== null)
  return keys.length > 0 && keys.every(key => noCallKeys.has(key)) ? undefined : 'unknown'
}

const flatArguments = ['arguments', 'parameters', 'input']

/** A call of chat completions, and of those who do it in their way: objects as arguments, no id, no type, no `function` around. */
function chatCall (item: Item, inner: Item): Read {
  const { id, toolCallId, index } = item
  const isFirst = id !== undefined || inner['name'] !== undefined
  if (!isFirst && typeof index === 'number') return 'piece'
  const args = flatArguments.map(key => inner[key]).find(value => value !== undefined)
  const isOllama = (id === undefined || id === null || id === '') && isRecord(args)
  return { format: 'chat', ...(isOllama ? { dialect: 'ollama' } : {}), idField: 'id', id: id ?? toolCallId, name: inner['name'], arguments: args }
}

function aiSdkCall ({ toolCallId: id, toolName: name, args, input = args, providerExecuted }: Item): Read {
  if (providerExecuted === true) return undefined
  return { format: 'ai-sdk', ...(args !== undefined && input === args ? { dialect: 'ai-sdk-4' } : {}), idField: 'toolCallId', id, name, arguments: input }
}

function geminiCall ({ id, name, args }: Item, idField: string): Omit<MessageCall, 'at'> {
  return { format: 'gemini', idField, id, name, arguments: args }
}

/** Gemini says so where it has called a tool of its own. */
function isOfServer (value: unknown): boolean {
  return isRecord(value) && ('toolType' in value || 'tool_type' in value)
}

function nameIn (value: unknown): unknown {
  return isRecord(value) ? value['name'] : undefined
}

const noCall = /(?:[_-]result|_output|_tool_result_error)$/
const piece = /(?:[._-]delta|[._-]chunk|-start|-end|_start|_stop|\.added)$/

/** Types of items that aren't calls, or are calls of tools that the provider or the agent runs itself. */
const noCalls = new Set([
  // Texts, thoughts and media.
  'text', 'output_text', 'input_text', 'text-plain', 'refusal', 'message', 'reasoning', 'thinking', 'redacted_thinking', 'redacted-reasoning',
  'reasoning-file', 'image', 'image_url', 'input_image', 'output_image', 'audio', 'input_audio', 'output_audio', 'video', 'file', 'input_file', 'document', 'document_url',
  'source', 'source-url', 'source-document', 'reference', 'citation', 'item_reference', 'search_result', 'container_upload', 'compaction', 'fallback',
  'non_standard', 'step-start', 'tool_reference',
  // Answers.
  'tool-error', 'tool-approval-request', 'tool-approval-response', 'mcp_approval_response',
  // Calls for others.
  'server_tool_use', 'server_tool_call', 'mcp_tool_use', 'web_search_call', 'x_search_call', 'collections_search_call', 'file_search_call',
  'computer_call', 'code_interpreter_call', 'image_generation_call', 'local_shell_call', 'shell_call', 'apply_patch_call', 'tool_search_call',
  'mcp_call', 'mcp_list_tools', 'mcp_tool_listing', 'mcp_approval_request', 'additional_tools', 'program'
])

/** Names of fields of which parts without a type consist that aren't calls: Gemini's, in both spellings, and Bedrock's. */
const noCallKeys = new Set([
  'text', 'thought', 'thoughtSignature', 'thought_signature', 'inlineData', 'inline_data', 'fileData', 'file_data', 'executableCode', 'executable_code',
  'codeExecutionResult', 'code_execution_result', 'functionResponse', 'function_response', 'videoMetadata', 'video_metadata', 'mediaResolution',
  'media_resolution', 'mediaProcessing', 'media_processing', 'audioTranscription', 'audio_transcription', 'speechMetadata', 'speech_metadata', 'partMetadata', 'part_metadata', 'toolResponse', 'tool_response',
  'image', 'document', 'video', 'audio', 'toolResult', 'guardContent', 'cachePoint', 'reasoningContent', 'citationsContent', 'searchResult'
])
