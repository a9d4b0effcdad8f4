export { limits, defaultQueue, queueNamePattern, roles, tenantNamePattern, type Role } from './terms/limits.ts'
export { httpErrors, callErrors, HttpError, shortName, type HttpErrorCode, type CallErrorCode, type CallError } from './terms/errors.ts'
export {
  ErrorBody, ToolSpec, ToolList, ToolListQuery, BatchCall, CallErrorBody, CallResult, ResultFile, InvokeBatchQuery, InvokeBatchRequest,
  InvokeBatchResponse, Mode, MessageFormats, ToolFormats, Details, QueueName, SessionId, sessionText, ToolMessage, WaitMs, type Batch,
  type BatchEntry
} from './calls/agent-tools.ts'
export { checkBatchQuery, checkBatchRequest, maxOutputCharsText, messageOf, queryChars, toBatch } from './calls/batch-request.ts'
export { type MessageCall, type MessageDialect, type MessageFormat } from './calls/message-items.ts'
export {
  AiSdkMessage, AnthropicMessage, BedrockMessage, ChatMessage, FunctionMessage, GeminiMessage, LangChainMessage, MistralMessage,
  ProviderMessage, ResponsesMessage
} from './calls/provider-messages.ts'
export {
  AnthropicTool, AnthropicToolList, BedrockTool, BedrockToolList, GeminiFunction, GeminiToolList, ResponsesTool,
  ResponsesToolList, type ToolFormat
} from './calls/provider-tools.ts'
export {
  isSessionId, jobIdHeader, outputBytesHeader, parseToolCallQuery, toArguments, ToolCallQuery, ToolErrorBody, ToolDryRun, ToolPending
} from './calls/tool-request.ts'
export { CallbackBody, type ApprovalCallbackBody, type ApprovalEvent } from './jobs/callbacks.ts'
export { checkLogin, LoginRequest, LoginResponse, LogoutResponse, WhoAmI } from './service/auth.ts'
export { checkSecretRequest, SecretAnswer, SecretList, SecretName, SecretPlace, SecretRequest, SecretRotation, SecretView } from './service/secrets.ts'
export { checkNewKey, KeyList, KeyView, NewKeyRequest, NewKeyResponse, RevokedKey } from './service/keys.ts'
export {
  checkNewSession, NewSessionRequest, parseSessionListQuery, SessionList, SessionResponse, SessionView, type SessionListQuery
} from './service/sessions.ts'
export { ArchiveResponse, FileList, FileResponse, parseFileQuery, type FileQuery } from './service/files.ts'
export { BulkList, bulkQuery, BulkRequest, BulkResponse, BulkView, checkBulkRequest, JobCounts, type BulkAction } from './jobs/bulk.ts'
export { parseIdempotencyKey } from './jobs/idempotency-key.ts'
export { jobOrders, jobStates, type JobState } from './jobs/job-states.ts'
export { parseJobListQuery, type JobListQuery, type JobOrder } from './jobs/job-list-query.ts'
export { checkJobRequest, readDependsOn, SubmitJobRequest, toJobRequest, type JobRequest } from './jobs/job-request.ts'
export { checkJobTypePatch, JobTypeList, JobTypePatch, JobTypeResponse, JobTypeView } from './jobs/job-types.ts'
export { defaultTimeoutSec, jobLimits, type LimitSources } from './terms/job-limits.ts'
export { askedAtOnce, AskedQuestion, QuestionView } from './calls/question.ts'
export { AnswerRequest, checkAnswer } from './jobs/questions.ts'
export { ApprovalView, JobList, JobResponse, RemovedJob, JobSummary, JobView, SubmitJobResponse } from './jobs/jobs.ts'
export { JobStep, JobSteps } from './jobs/job-steps.ts'
export { JobLogsResponse, LogEntry, readTail, type LogLevel } from './jobs/job-log.ts'
export { BatchStreamEvents, JobStreamEvents, readSseTokenRequest, SseTokenRequest, SseTokenResponse, streamTokenParam } from './jobs/streams.ts'
export { Health, Ready } from './service/health.ts'
export { parseStatisticsQuery, Statistics, StatisticsEntry, UsageEntry, type StatisticsQuery } from './service/statistics.ts'
export { checkQueuePatch, QueueList, QueuePatch, QueueResponse, QueueView } from './service/queues.ts'
export { ApprovalDetail, ApprovalItem, ApprovalList, ApprovalResponse, checkDecision, DecisionRequest } from './service/approvals.ts'
export { ChangeList, ChangeView } from './service/changes.ts'
export { checkWorkerPatch, GoneWorker, WorkerList, WorkerPatch, WorkerResponse, WorkerState, WorkerView } from './service/workers.ts'
export { asError, errorCode } from './value/caught.ts'
export { storedJson } from './value/stored-json.ts'
export { readJson, readJsonInTurns, readWhole } from './json/read-json.ts'
export { writeJson } from './json/write-json.ts'
export { around, isWritten, lostText, numberText } from './json/written.ts'
export { unknownParameter } from './value/fields.ts'
export { isRecord, withoutUndefined } from './value/record.ts'
export { permissions, type Permission, type PermissionPolicy } from './terms/permissions.ts'
export { SkillList } from './service/skills.ts'
export { protocol } from './terms/protocol.ts'
export type { ApprovalCallbackData, CallbackData, ChangedFiles, Hold, HoldParts, JobAccess, JobData, JobDependency, JobOrigin, OutputCut, OutputRecord, SandboxState, Settlement, WorkerRecord } from './jobs/wire.ts'
export type { Progress } from './terms/progress.ts'
export { consoleHeader, consoleHeaderFor } from './terms/console-header.ts'
export { readTraceContext, traceIdsOf, type TraceContext } from './terms/trace-context.ts'
export { ToolFinding, ToolOverview, ToolResponse, ToolSummary, ToolView } from './service/tools.ts'
