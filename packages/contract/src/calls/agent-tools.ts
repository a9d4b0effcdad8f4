import type { Static } from 'typebox'
import { Type } from '../value/type.ts'
import { callErrors, httpErrors, type CallError } from '../terms/errors.ts'
import { CallbackUrl } from './callback-url.ts'
import { defaultQueue, limits, queueNamePattern } from '../terms/limits.ts'
import { messageFormats } from './message-items.ts'
import { ProviderMessage } from './provider-messages.ts'
import { ToolAudits, toolFormats } from './provider-tools.ts'

const codes = (table: object): string[] => Object.keys(table)

/** `{ok: false, error, request_id}`: the body of every answer that is not a 200. */
export const ErrorBody = Type.Object({
  ok: Type.Literal(false),
  error: Type.Object({
    code: Type.Enum(codes(httpErrors)),
    message: Type.String(),
    details: Type.Optional(Type.Record(Type.String(), Type.Unknown()))
  }),
  request_id: Type.String({ description: 'The same as in the header x-request-id; the log has it as reqId.' })
})

export const ToolSpec = Type.Object({
  type: Type.Literal('function'),
  function: Type.Object({
    name: Type.String(),
    description: Type.String(),
    parameters: Type.Record(Type.String(), Type.Unknown()),
    strict: Type.Optional(Type.Literal(true, { description: 'With ?strict=true, for tools whose schema allows it.' }))
  })
})
export type ToolSpec = Static<typeof ToolSpec>

/** Whose shape tools have: chat completions, the Responses API, Anthropic's messages, Gemini or Bedrock. */
export const ToolFormats = Type.Enum([...toolFormats])
export const MessageFormats = Type.Enum([...messageFormats])

export const ToolListQuery = Type.Object({
  strict: Type.Optional(Type.Enum(['true', 'false'], { description: 'Serve the form that strict mode asks for, where a schema allows it.' })),
  format: Type.Optional(ToolFormats),
  search: Type.Optional(Type.String({ minLength: 1, maxLength: limits.toolSearch.queryChars, description: 'Only tools that fit these words, best first.' })),
  namespace: Type.Optional(Type.String({ minLength: 1, maxLength: limits.namespaceChars, description: 'Only tools of this namespace.' })),
  defer: Type.Optional(Type.Enum(['1', 'true', '0', 'false'], { description: 'Tools that are not pinned are deferred in the form of the provider, whose own search finds them: `defer_loading` of Anthropic and of the Responses API, there in namespaces. In other formats the list has the pinned tools, search_tools and call_tool alone.' })),
  pin: Type.Optional(Type.String({ minLength: 1, maxLength: limits.pinnedChars, description: 'With defer, names of tools that are loaded from the start, comma-separated, beside those whose manifest says `pinned`.' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: limits.toolSearch.results.max, description: `With search, how many tools at most; ${limits.toolSearch.results.default} when left out.` }))
}, { additionalProperties: false })

/** `GET /v1/agent-tools`. */
export const ToolList = Type.Object({
  ok: Type.Literal(true),
  tools: Type.Array(ToolSpec),
  count: Type.Integer(),
  audit: ToolAudits
})
export type ToolList = Static<typeof ToolList>

/** JSON Schema counts characters; the contract counts UTF-16 units. */
export const CallId = Type.Refine(
  Type.String({ minLength: 1, maxLength: limits.callIdLength, pattern: '\\S', description: 'Echoed in the answer.' }),
  id => id.length <= limits.callIdLength
)
export const CallName = Type.String({ minLength: 1, pattern: '\\S', description: 'A name from GET /v1/agent-tools.' })
/** Not `Type.Record`, which looks at each name. */
const AnyObject = Type.Unsafe<Record<string, unknown>>({ type: 'object' })
export const CallArguments = Type.Union([AnyObject, Type.Null()], { description: 'Absent or null means {}.' })
export const Mode = Type.Enum(['sync', 'async'], { default: 'sync' })
export const WaitMs = Type.Integer({ minimum: limits.waitMs.min, maximum: limits.waitMs.max, default: limits.waitMs.default })
/** The jobs of a client that goes away run on, or are cancelled. */
export const OnDisconnect = Type.Enum(['leave', 'cancel'], { default: 'leave' })
export const QueueName = Type.String({ pattern: queueNamePattern, default: defaultQueue })

export const SessionId = Type.String({
  pattern: '^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$', description: 'A session of POST /v1/sessions, whose files are the workspace of the calls.'
})
export const Conversation = Type.String({ minLength: 1, maxLength: limits.conversationLength, description: 'What the caller calls the conversation: rules of policies may be about it, and who approves a call sees it.' })
export const conversationText = `'conversation' must be a text of 1 to ${limits.conversationLength} characters`

export const sessionText = "'session' must be the id of a session"

export const BatchCall = Type.Object({
  call_id: CallId,
  name: CallName,
  arguments: Type.Optional(CallArguments)
}, { additionalProperties: false })

export const Details = Type.Literal('log', { description: "`log` adds the last lines of the job's log to `details.log` of each call that failed, such as the traceback of a Python tool." })

export const MaxOutputChars = Type.Integer({
  minimum: limits.maxOutputChars.min,
  maximum: limits.maxOutputChars.max,
  description: `Outputs with more characters of JSON are cut: their beginning is \`preview\`, and their end \`tail\`. Left out: ${limits.outputChars}, for texts and files of skills ${limits.skillChars}, and \`preview\` alone.`
})

export const InvokeBatchQuery = Type.Object({
  format: Type.Optional(MessageFormats),
  details: Type.Optional(Details),
  max_output_chars: Type.Optional(Type.String({ pattern: '^[0-9]{1,6}$', description: 'As in the body, which wins.' }))
})

const Items = Type.Array(Type.Unknown())
const listOr = (other: Parameters<typeof Type.Optional>[0], description: string) =>
  Type.Optional(Type.Union([Items, other, Type.Null()], { description }))
const list = (description: string) => Type.Optional(Type.Union([Items, Type.Null()], { description }))
const object = (description: string) => Type.Optional(Type.Union([AnyObject, Type.Null()], { description }))

/**
 * `POST /v1/agent-tools/invoke-batch`, as it arrives. Null means the default. The calls come in
 * `calls`, or in a model's message, whose other fields are ignored where it comes as a whole; else no other field is known.
 */
export const InvokeBatchRequest = Type.Object({
  calls: Type.Optional(Type.Union([Type.Array(BatchCall, { minItems: limits.calls.min, maxItems: limits.calls.max }), Type.Null()])),
  tool_calls: list('The tool_calls of a message of chat completions, of Ollama, Mistral, Cohere or LangChain, as they came.'),
  output: listOr(AnyObject, 'The output of an answer of the Responses API, or of Bedrock, as it came.'),
  content: listOr(Type.Union([AnyObject, Type.String()]), "The content of a message of Anthropic's API, of Bedrock, Gemini or the AI SDK, as it came."),
  choices: list('The choices of a chat completion, as they came.'),
  candidates: list('The candidates of an answer of Gemini, as they came.'),
  promptFeedback: object('What an answer of Gemini has in place of candidates where the prompt was refused.'),
  prompt_feedback: object('The same where names have underscores.'),
  parts: list('The parts of a content of Gemini, as they came.'),
  functionCalls: list('The functionCalls of an answer of Gemini.'),
  function_calls: list('The function_calls of an answer of Gemini.'),
  toolCalls: list('The toolCalls of a result of the AI SDK, or of a message of the libraries of Mistral and Cohere.'),
  invalid_tool_calls: list("The calls of a message of LangChain's that it couldn't read."),
  function_call: Type.Optional(Type.Union([AnyObject, Type.Null()], { description: 'The function_call of an older message of chat completions.' })),
  message: object('A whole message, as Ollama and Cohere have it.'),
  response: object('A whole answer of the Responses API, as the last event of its stream has it.'),
  kwargs: object("A message of LangChain's, as its library writes it."),
  mode: Type.Optional(Type.Union([Mode, Type.Null()])),
  wait_ms: Type.Optional(Type.Union([WaitMs, Type.Null()])),
  queue: Type.Optional(Type.Union([QueueName, Type.Null()])),
  session: Type.Optional(Type.Union([SessionId, Type.Null()])),
  conversation: Type.Optional(Type.Union([Conversation, Type.Null()])),
  on_disconnect: Type.Optional(Type.Union([OnDisconnect, Type.Null()])),
  max_output_chars: Type.Optional(Type.Union([MaxOutputChars, Type.Null()])),
  callback_url: Type.Optional(Type.Union([CallbackUrl, Type.Null()], { description: 'Each job of the batch is told of by itself.' }))
})
export type InvokeBatchRequest = Static<typeof InvokeBatchRequest>

export const CallErrorBody = Type.Object({
  code: Type.Enum(codes(callErrors)),
  message: Type.String(),
  details: Type.Optional(Type.Unknown())
})

export const ResultFile = Type.Object({
  path: Type.String({ description: 'In the session.' }),
  size: Type.Integer({ minimum: 0 }),
  type: Type.String({ description: 'Its media type, by its content and its name.' }),
  sha256: Type.Optional(Type.String({ description: 'Absent for a file of more than 16 MiB, and where the files of a call have more than 64 MiB.' }))
})
export type ResultFile = Static<typeof ResultFile>

export const resultFileFields = {
  files: Type.Optional(Type.Array(ResultFile, {
    maxItems: limits.resultFiles, description: 'The files of the session that were made or changed while the call ran; absent where none was.'
  })),
  more_files: Type.Optional(Type.Literal(true, { description: 'More files were changed than `files` names.' }))
}

/**
 * One call's answer. Each call that became a job has its `job_id`. `output` is there whenever `ok`
 * is true in sync mode, `job_type` in async mode; `pending` comes with `TIMEOUT`.
 */
export const CallResult = Type.Object({
  call_id: Type.String(),
  name: Type.String(),
  ok: Type.Boolean(),
  output: Type.Optional(Type.Unknown()),
  pending: Type.Optional(Type.Literal(true)),
  job_id: Type.Optional(Type.String({ description: 'Leads to the log and the whole output; absent where no job was made.' })),
  job_type: Type.Optional(Type.String()),
  ...resultFileFields,
  error: Type.Optional(CallErrorBody)
})
export type CallResult = Static<typeof CallResult>

/** One call's answer for the model; `content` is a JSON text. */
export const ToolMessage = Type.Object({
  role: Type.Literal('tool'),
  tool_call_id: Type.String(),
  name: Type.String(),
  content: Type.String()
})
export type ToolMessage = Static<typeof ToolMessage>

export const InvokeBatchResponse = Type.Object({
  ok: Type.Literal(true),
  results: Type.Array(CallResult),
  tool_messages: Type.Array(ToolMessage),
  mode: Type.String(),
  messages: Type.Optional(Type.Array(ProviderMessage, { description: 'To be appended to the conversation as they are; there with ?format, and for the message of a provider.' }))
})
export type InvokeBatchResponse = Static<typeof InvokeBatchResponse>

export interface BatchEntry {
  call_id: string
  name: string
  arguments: Record<string, unknown>
  /** The call can't run, whatever tool it is for. */
  error?: CallError
}

/** A batch after validation, with its defaults filled in. */
export interface Batch {
  calls: BatchEntry[]
  mode: 'sync' | 'async'
  waitMs: number
  queue: string
  /** The session whose files are the workspace of the calls. */
  session: string | undefined
  conversation?: string | undefined
  onDisconnect: 'leave' | 'cancel'
  callbackUrl: string | undefined
  /** From which length on outputs are cut; undefined for the documented form. */
  maxOutputChars?: number | undefined
}
