export { Toolyard } from './toolyard.ts'
export type { CallOptions, InvokeOptions, ToolsOptions } from './toolyard.ts'
export type { FileBody, ToolyardOptions } from './http/transport.ts'
export { pathSegment } from './http/path-segment.ts'
export { ToolError, ToolyardError, type ErrorCode } from './http/errors.ts'
export type { FollowOptions, JobEvent } from './follow.ts'
export type { FileQuery, Files } from './files.ts'
export type { ApprovalDetail, ApprovalItem, ApprovalList, ApprovalQuery, Approvals, DecisionOptions, HeldCall } from './approvals.ts'
export type { SecretPlace, Secrets } from './secrets.ts'
export type { SessionQuery, Sessions } from './sessions.ts'
export type { JobQuery, Jobs, SubmitOptions, WaitOptions } from './jobs.ts'
export type {
  ApprovalView, AskedQuestion, CallErrorBody, CallErrorCode, CallResult, FileList, HttpErrorCode, JobList, JobState, JobSummary, JobView,
  LogEntry, NewJob, NewSession, Progress, PutFile, QuestionView, ResultFile, SecretList, SecretView, SessionList, SessionView, Unpacked
} from './http/wire.ts'
export type {
  AiSdkAnswer, AiSdkResult, AiSdkToolCall, AnthropicAnswer, AnthropicImageSource, AnthropicMessage, AnthropicResultContent, AnthropicTool,
  BedrockAnswer, BedrockResponse, BedrockTool, ChatAnswer, ChatCompletion, ChatMessage, ChatTool, ChatToolCall, Format,
  GeminiAnswer, GeminiResponse, GeminiTool,
  LangChainAnswer, LangChainMessage, LangChainToolCall, ProviderAnswer, ResponsesAnswer, ResponsesAnswerOutput, ResponsesCaller,
  ResponsesOutput, ResponsesTool
} from './providers.ts'
export { exactJson, type Json } from './http/json.ts'
