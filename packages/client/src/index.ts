export { Toolyard } from './toolyard.ts'
export type { CallOptions, InvokeOptions, ToolsOptions } from './toolyard.ts'
export type { ToolyardOptions } from './transport.ts'
export { ToolError, ToolyardError, type ErrorCode } from './errors.ts'
export type { FollowOptions, JobEvent } from './follow.ts'
export type { JobQuery, Jobs, SubmitOptions, WaitOptions } from './jobs.ts'
export type { CallErrorBody, CallErrorCode, CallResult, HttpErrorCode, JobList, JobState, JobSummary, JobView, LogEntry, NewJob, Progress, ResultFile } from './wire.ts'
export type {
  AnthropicAnswer, AnthropicMessage, AnthropicTool, ChatAnswer, ChatMessage, ChatTool, ChatToolCall, Format, ResponsesAnswer,
  ResponsesOutput, ResponsesTool
} from './providers.ts'
