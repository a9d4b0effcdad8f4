/** Whose shapes tools and answers have: chat completions, the Responses API, Anthropic's messages, Gemini or Bedrock. */
export type Format = 'chat' | 'responses' | 'anthropic' | 'gemini' | 'bedrock'

/** A JSON Schema of an object. */
interface ObjectSchema {
  type: 'object'
  [keyword: string]: unknown
}

/** A tool for `tools` of chat completions. */
export interface ChatTool {
  type: 'function'
  function: { name: string, description: string, parameters: Record<string, unknown>, strict?: true }
}

/** A tool for `tools` of the Responses API. */
export interface ResponsesTool {
  type: 'function'
  name: string
  description: string
  parameters: Record<string, unknown>
  strict: boolean
}

/** A tool for `tools` of Anthropic's messages. */
export interface AnthropicTool {
  name: string
  description: string
  input_schema: ObjectSchema
  strict?: true
}

/** A tool for `config.tools` of Gemini: all functions are in one. */
export interface GeminiTool {
  functionDeclarations: Array<{ name: string, description: string, parametersJsonSchema: Record<string, unknown> }>
}

/** A tool for `toolConfig.tools` of Bedrock's Converse. */
export interface BedrockTool {
  toolSpec: { name: string, description: string, inputSchema: { json: Record<string, unknown> }, strict?: true }
}

/** A tool in each shape. */
export interface ToolOf {
  chat: ChatTool
  responses: ResponsesTool
  anthropic: AnthropicTool
  gemini: GeminiTool
  bedrock: BedrockTool
}

/** An entry of `tool_calls`. */
export interface ChatToolCall { id: string, type: 'function' | 'custom' }
/** The assistant's message of chat completions. */
export interface ChatMessage { tool_calls?: readonly ChatToolCall[] | null | undefined, role: 'assistant' }
/** A chat completion. */
export interface ChatCompletion { choices: ReadonlyArray<{ message: ChatMessage }> }
/** A response of the Responses API. */
export interface ResponsesOutput { output: ReadonlyArray<{ type?: string }> }
/** A message of Anthropic's. */
export interface AnthropicMessage { content: ReadonlyArray<{ type: string }> }
/** An answer of Gemini. */
export interface GeminiResponse { candidates?: ReadonlyArray<{ content?: object }> | undefined }
/** An answer of Bedrock's Converse. */
export interface BedrockResponse { output: { message?: object | undefined } | undefined, stopReason?: string | undefined }
/** A call as LangChain has it. */
export interface LangChainToolCall { name: string, args: object, id?: string | undefined, type?: 'tool_call' | undefined }
/** A message of LangChain's with calls. */
export interface LangChainMessage { tool_calls?: readonly LangChainToolCall[] | undefined }
/** A call as the AI SDK has it. */
export interface AiSdkToolCall { type: 'tool-call', toolCallId: string, toolName: string }
/** The result of `generateText` of the AI SDK. */
export interface AiSdkResult { toolCalls: readonly AiSdkToolCall[] }

/** For a call of chat completions. */
export interface ChatAnswer { role: 'tool', tool_call_id: string, /** For Ollama. */ tool_name?: string, content: string }
/** For a call of the Responses API. */
export type ResponsesAnswer =
  | { type: 'function_call_output', call_id: string, caller?: ResponsesCaller, output: ResponsesAnswerOutput }
  | { type: 'custom_tool_call_output', call_id: string, caller?: ResponsesCaller, output: ResponsesAnswerOutput }
/** The program of the model that has made the call. */
export interface ResponsesCaller { type: 'program', caller_id: string }
/** A text; with small images that the tool has returned, a text and these. */
export type ResponsesAnswerOutput =
  | string
  | Array<{ type: 'input_text', text: string } | { type: 'input_image', image_url: string, detail: 'auto' }>
/** For all calls of Anthropic's message. */
export interface AnthropicAnswer {
  role: 'user'
  content: Array<{ type: 'tool_result', tool_use_id: string, content: AnthropicResultContent, is_error?: boolean }>
}
/** A text; with small images that the tool has returned, a text and these. */
export type AnthropicResultContent =
  | string
  | Array<{ type: 'text', text: string } | { type: 'image', source: AnthropicImageSource }>
/** An image in Base64. */
export interface AnthropicImageSource { type: 'base64', media_type: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp', data: string }

/** For all calls of an answer of Gemini. */
export interface GeminiAnswer { role: 'user', parts: Array<{ functionResponse: { id?: string, name: string, response: Record<string, unknown> } }> }
/** For all calls of an answer of Bedrock. */
export interface BedrockAnswer {
  role: 'user'
  content: Array<{ toolResult: { toolUseId: string, content: Array<{ text: string }>, status: 'success' | 'error' } }>
}
/** For a call of LangChain. */
export interface LangChainAnswer { role: 'tool', tool_call_id: string, name: string, content: string, status: 'success' | 'error' }
/** For all calls of the AI SDK; its version 4 has `result` in place of `output`. */
export interface AiSdkAnswer {
  role: 'tool'
  content: Array<{ type: 'tool-result', toolCallId: string, toolName: string, output: { type: 'text' | 'error-text', value: string } }>
}

/** An answer in each shape. */
export type ProviderAnswer = ChatAnswer | ResponsesAnswer | AnthropicAnswer | GeminiAnswer | BedrockAnswer | LangChainAnswer | AiSdkAnswer

/** Calls of one batch. */
const batchSize = 20

/**
 * The items of a model's message that may be calls, in bodies of a batch each; none where there surely is no call.
 * The service reads them: what isn't understood here is sent as it is, so that its error names it.
 */
export function batchesOf (message: unknown): object[] {
  if (!isObject(message)) return [{ message }]
  const found = Array.isArray(message) ? listOf(fieldOf(message), message) : open(message)
  if (found === undefined) return [message]
  const { field, items, rest } = found
  if (field === 'function_call') return [{ function_call: items[0] }]
  return Array.from({ length: Math.ceil(items.length / batchSize) }, (_, index) => ({
    [field]: items.slice(index * batchSize, (index + 1) * batchSize), ...(index + 1) * batchSize >= items.length ? rest : {}
  }))
}

/** Items under the name that the service has for their list; `rest` is what the provider says of how the message ended. */
interface Found { field: string, items: readonly unknown[], rest: object }

const nothing: Found = { field: 'content', items: [], rest: {} }

/** Undefined where the message can't be read here. */
function open (message: object): Found | undefined {
  const at = (field: string): unknown => Reflect.get(message, field)
  const ended = ['finish_reason', 'finishReason', 'stop_reason', 'stopReason'].find(field => typeof at(field) === 'string')
  const choices = ['choices', 'candidates'].map(at).find(Array.isArray)
  const found = choices === undefined ? lists(at) : alternatives(choices)
  return found === undefined || ended === undefined ? found : { ...found, rest: { ...found.rest, [ended]: at(ended) } }
}

/** One of several answers of a model. */
function alternatives (choices: readonly unknown[]): Found | undefined {
  const opened = choices.map(choice => isObject(choice) ? open(choice) : undefined)
  if (opened.includes(undefined)) return undefined
  const withItems = opened.filter(found => found !== undefined && found.items.length > 0)
  return withItems.length < 2 ? withItems[0] ?? nothing : undefined
}

function lists (at: (field: string) => unknown): Found | undefined {
  // LangChain sends its provider no call that it could not read, unless there is no other.
  const calls = ['tool_calls', 'invalid_tool_calls'].map(field => itemsOf(at(field)) ?? []).find(({ length }) => length > 0)
  if (calls !== undefined) return listOf('tool_calls', calls)
  for (const field of ['toolCalls', 'functionCalls', 'function_calls']) {
    const items = itemsOf(at(field))
    if (items !== undefined && items.length > 0) return listOf(field, items)
  }
  if (isObject(at('function_call'))) return listOf('function_call', [at('function_call')])
  const found = ['output', 'content', 'parts', 'message', 'response', 'kwargs'].map(field => {
    const value = at(field)
    const items = itemsOf(value)
    if (items !== undefined) return listOf(field, items)
    if (typeof value === 'string' && field === 'content') return nothing
    return isObject(value) ? open(value) : undefined
  }).filter(each => each !== undefined)
  const isKnown = found.length > 0 || knownFields.some(field => at(field) !== undefined)
  return isKnown ? found.find(({ items }) => items.length > 0) ?? nothing : undefined
}

/** A message without calls may have null in these, or nothing else at all. */
const knownFields = ['tool_calls', 'toolCalls', 'output', 'content', 'parts', 'function_call', 'role']

function itemsOf (value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined
}

function listOf (field: string, items: readonly unknown[]): Found {
  return { field, items: items.filter(mayBeCall), rest: {} }
}

/** The name of a list that comes without one. */
function fieldOf (items: readonly unknown[]): string {
  const objects = items.filter(isObject)
  const types = new Set(objects.map(item => Reflect.get(item, 'type') as unknown))
  if (types.has('function_call') || types.has('custom_tool_call')) return 'output'
  if (objects.some(item => 'functionCall' in item)) return 'parts'
  if (objects.some(item => 'args' in item && !('type' in item))) return 'functionCalls'
  const isChat = objects.some(item => 'function' in item) || ['function', 'custom', 'tool_call'].some(type => types.has(type))
  return isChat ? 'tool_calls' : 'content'
}

function mayBeCall (item: unknown): boolean {
  if (typeof item === 'string') return false
  if (!isObject(item)) return true
  const type: unknown = Reflect.get(item, 'type')
  return typeof type === 'string' ? !noCalls.has(type) && !/(?:_tool_result|_call_output|-result)$/.test(type) : !isText(item)
}

/** A part of Gemini or Bedrock that is nothing but a text. */
function isText (item: object): boolean {
  return Object.entries(item).every(([key, value]) => key === 'text' || key === 'thought' || key === 'thoughtSignature' || key === 'reasoningContent' || value === null)
}

/** Types of items that are no calls for Toolyard. Those that are missing here cost a request, no more. */
const noCalls = new Set([
  'text', 'output_text', 'refusal', 'message', 'reasoning', 'thinking', 'redacted_thinking', 'redacted-reasoning', 'image', 'image_url', 'audio',
  'file', 'document', 'source', 'compaction', 'container_upload', 'step-start', 'tool_result', 'tool-error', 'server_tool_result', 'tool_search_output',
  'server_tool_use', 'server_tool_call', 'mcp_tool_use', 'web_search_call', 'x_search_call', 'file_search_call', 'computer_call',
  'code_interpreter_call', 'image_generation_call', 'local_shell_call', 'shell_call', 'apply_patch_call', 'tool_search_call', 'mcp_call',
  'mcp_list_tools', 'mcp_approval_request'
])

function isObject (value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** Puts the answers of several batches together; where a provider wants the answers to one message in one, they come so. */
export function joinAnswers (batches: readonly ProviderAnswer[][]): ProviderAnswer[] {
  const answers = batches.flat()
  const [first] = answers
  const list = first === undefined ? undefined : ['content', 'parts'].find(field => Array.isArray(Reflect.get(first, field)))
  if (first === undefined || list === undefined) return answers
  return [{ ...first, [list]: answers.flatMap((answer): unknown => Reflect.get(answer, list)) }]
}
