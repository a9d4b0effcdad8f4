/** Of the tool echo, for the arguments of these calls. */
export const toolText = '{"ok":true,"result":{"a":1}}'
const args = { a: 1 }
const text = JSON.stringify(args)
const chat = { id: 'c0', type: 'function', function: { name: 'echo', arguments: text } }
const chatAnswers = [{ role: 'tool', tool_call_id: 'c0', content: toolText }]
const langChain = { name: 'echo', args, id: 'c0', type: 'tool_call' }
const langChainAnswers = [{ role: 'tool', tool_call_id: 'c0', name: 'echo', content: toolText, status: 'success' }]
const gemini = { role: 'model', parts: [{ text: 'Hm.', thought: true }, { functionCall: { name: 'echo', args } }] }
const response = { name: 'echo', response: { ok: true, result: args } }
const geminiAnswers = [{ role: 'user', parts: [{ functionResponse: response }] }]
const toolUse = { role: 'assistant', content: [{ text: 'Hm.' }, { toolUse: { toolUseId: 'c0', name: 'echo', input: args } }] }
const bedrockAnswers = [{ role: 'user', content: [{ toolResult: { toolUseId: 'c0', content: [{ text: toolText }], status: 'success' } }] }]
const result = { type: 'tool-result', toolCallId: 'c0', toolName: 'echo' }
const v5 = [{ role: 'tool', content: [{ ...result, output: { type: 'text', value: toolText } }] }]
const functionCall = { type: 'function_call', id: 'f0', call_id: 'c0', name: 'echo', arguments: text, status: 'completed' }
const responsesAnswers = [{ type: 'function_call_output', call_id: 'c0', output: toolText }]
const anthropicAnswers = [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c0', content: toolText }] }]

/** Messages as programs of others have them, each with a call of `echo`, and what answers them. */
export const providerMessages: ReadonlyArray<{ who: string, message: object, answers: object[] }> = [
  { who: "LangChain's tool_calls", message: { tool_calls: [langChain] }, answers: langChainAnswers },
  { who: "a message of LangChain's", message: { content: '', additional_kwargs: {}, response_metadata: {}, type: 'ai', name: null, id: 'run-1', tool_calls: [langChain], invalid_tool_calls: [], usage_metadata: {} }, answers: langChainAnswers },
  { who: "a message of LangChain's as its JavaScript library writes it", message: { lc: 1, type: 'constructor', id: ['langchain_core', 'messages', 'AIMessage'], kwargs: { content: '', tool_calls: [langChain] } }, answers: langChainAnswers },
  { who: "LangChain's standard content", message: { content: [{ type: 'reasoning', reasoning: 'x' }, langChain] }, answers: langChainAnswers },
  { who: 'the AI SDK 4', message: { content: [{ type: 'text', text: 'x' }, { type: 'tool-call', toolCallId: 'c0', toolName: 'echo', args }] }, answers: [{ role: 'tool', content: [{ ...result, result: toolText }] }] },
  { who: 'the AI SDK 5', message: { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c0', toolName: 'echo', input: args }] }, answers: v5 },
  { who: 'a result of the AI SDK', message: { text: '', finishReason: 'tool-calls', toolCalls: [{ type: 'tool-call', toolCallId: 'c0', toolName: 'echo', input: args }] }, answers: v5 },
  { who: 'a content of Bedrock', message: { content: toolUse.content }, answers: bedrockAnswers },
  { who: 'a whole answer of Bedrock', message: { output: { message: toolUse }, stopReason: 'tool_use', usage: { totalTokens: 3 }, metrics: {} }, answers: bedrockAnswers },
  { who: 'the parts of Gemini', message: { parts: gemini.parts }, answers: geminiAnswers },
  { who: 'a whole answer of Gemini', message: { candidates: [{ content: gemini, finishReason: 'STOP', index: 0 }], usageMetadata: {}, modelVersion: 'x' }, answers: geminiAnswers },
  { who: 'a content of Gemini with ids and underscores', message: { content: { role: 'model', parts: [{ text: null, function_call: { id: 'c0', name: 'echo', args } }] } }, answers: [{ role: 'user', parts: [{ function_response: { id: 'c0', ...response } }] }] },
  { who: "Gemini's functionCalls", message: { functionCalls: [{ name: 'echo', args }] }, answers: geminiAnswers },
  { who: 'a whole chat completion', message: { id: 'x', object: 'chat.completion', created: 1, model: 'x', choices: [{ index: 0, finish_reason: 'tool_calls', logprobs: null, message: { role: 'assistant', content: null, refusal: null, tool_calls: [chat] } }], usage: {} }, answers: chatAnswers },
  { who: 'a message of chat completions with a text beside its calls', message: { role: 'assistant', content: 'I look.', tool_calls: [chat] }, answers: chatAnswers },
  { who: 'a chat completion of vLLM without a type', message: { choices: [{ message: { role: 'assistant', content: '', tool_calls: [{ id: 'c0', function: chat.function }] } }] }, answers: chatAnswers },
  { who: "llama.cpp's calls without an id", message: { tool_calls: [{ ...chat, id: '' }] }, answers: [{ role: 'tool', tool_call_id: 'call_at_0', content: toolText }] },
  { who: 'Ollama', message: { model: 'x', created_at: 'x', message: { role: 'assistant', content: '', tool_calls: [{ function: { name: 'echo', arguments: args } }] }, done: true }, answers: [{ role: 'tool', tool_call_id: 'call_at_0', tool_name: 'echo', content: toolText }] },
  { who: 'Cohere', message: { id: 'x', finish_reason: 'TOOL_CALL', message: { role: 'assistant', tool_plan: 'I look.', tool_calls: [chat] } }, answers: chatAnswers },
  { who: "Mistral's TypeScript library", message: { role: 'assistant', content: '', toolCalls: [{ id: 'c0', function: { name: 'echo', arguments: args }, index: 0 }] }, answers: [{ role: 'tool', toolCallId: 'c0', name: 'echo', content: toolText }] },
  { who: 'a chat completion with the older function_call', message: { choices: [{ message: { role: 'assistant', content: null, function_call: { name: 'echo', arguments: text } }, finish_reason: 'function_call' }] }, answers: [{ role: 'function', name: 'echo', content: toolText }] },
  { who: 'a whole response of the Responses API', message: { id: 'r', object: 'response', status: 'completed', error: null, tools: [], output: [{ type: 'reasoning', id: 'x', summary: [] }, functionCall] }, answers: responsesAnswers },
  { who: "the last event of the Responses API's stream", message: { type: 'response.completed', sequence_number: 9, response: { object: 'response', output: [functionCall] } }, answers: responsesAnswers },
  { who: 'a whole message of Anthropic', message: { id: 'msg', type: 'message', role: 'assistant', model: 'x', stop_reason: 'tool_use', stop_sequence: null, usage: {}, content: [{ type: 'text', text: 'x' }, { type: 'tool_use', id: 'c0', name: 'echo', input: args }] }, answers: anthropicAnswers }
]
