/** Whose shapes tools and answers have: chat completions, the Responses API, or Anthropic's messages. */
export type Format = 'chat' | 'responses' | 'anthropic'

/** A JSON Schema of an object. */
export interface ObjectSchema {
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

/** A tool in each shape. */
export interface ToolOf {
  chat: ChatTool
  responses: ResponsesTool
  anthropic: AnthropicTool
}

/** An entry of `tool_calls`. */
export interface ChatToolCall { id: string, type: 'function' | 'custom' }
/** The assistant's message of chat completions. */
export interface ChatMessage { tool_calls?: readonly ChatToolCall[] | null | undefined, role: 'assistant' }
/** A response of the Responses API. */
export interface ResponsesOutput { output: ReadonlyArray<{ type?: string }> }
/** A message of Anthropic's. */
export interface AnthropicMessage { content: ReadonlyArray<{ type: string }> }

/** What answers a call of chat completions. */
export interface ChatAnswer { role: 'tool', tool_call_id: string, content: string }
/** What answers a call of the Responses API. */
export type ResponsesAnswer =
  | { type: 'function_call_output', call_id: string, output: ResponsesAnswerOutput }
  | { type: 'custom_tool_call_output', call_id: string, output: ResponsesAnswerOutput }
/** A text; with small images that the tool has returned, a text and these. */
export type ResponsesAnswerOutput =
  | string
  | Array<{ type: 'input_text', text: string } | { type: 'input_image', image_url: string, detail: 'auto' }>
/** What answers all calls of Anthropic's message. */
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

/** An answer in each shape. */
export type ProviderAnswer = ChatAnswer | ResponsesAnswer | AnthropicAnswer

/** The calls of a model's message, under the name that the API has for them. */
export interface ProviderCalls {
  field: 'tool_calls' | 'output' | 'content'
  calls: readonly object[]
}

/** Anything that a provider's library gives for a model's message. */
export type ProviderMessage = ChatMessage | ResponsesOutput | AnthropicMessage | readonly object[]

/** Finds the calls in a model's message or list of items; everything else in it is left out. */
export function findCalls (message: ProviderMessage): ProviderCalls {
  if (Array.isArray(message)) return callsOf(message as unknown[])
  const lists = ['tool_calls', 'output', 'content'].map((field): unknown => Reflect.get(message, field))
  return callsOf(lists.filter(Array.isArray).flat())
}

const calling = { output: ['function_call', 'custom_tool_call'], content: ['tool_use'], tool_calls: ['function', 'custom'] } as const

function callsOf (items: readonly unknown[]): ProviderCalls {
  for (const field of ['output', 'content'] as const) {
    const calls = items.filter((item): item is object => isCall(item, calling[field]))
    if (calls.length > 0) return { field, calls }
  }
  // Some servers leave the type out.
  return { field: 'tool_calls', calls: items.filter((item): item is object => isCall(item, calling.tool_calls) || (typeof item === 'object' && item !== null && 'function' in item)) }
}

function isCall (item: unknown, types: readonly string[]): boolean {
  return typeof item === 'object' && item !== null && 'type' in item && types.some(type => type === item.type)
}

/** Puts the answers of several batches together; Anthropic wants all results of one message in one message. */
export function joinAnswers (batches: readonly ProviderAnswer[][]): ProviderAnswer[] {
  const answers = batches.flat()
  const [first] = answers
  if (first === undefined || !isAnthropic(first)) return answers
  return [{ ...first, content: answers.filter(isAnthropic).flatMap(({ content }) => content) }]
}

function isAnthropic (answer: ProviderAnswer): answer is AnthropicAnswer {
  return 'content' in answer && typeof answer.content !== 'string'
}
