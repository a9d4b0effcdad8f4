export { limits, defaultQueue, queueNamePattern, publishableNamePattern } from './limits.ts'
export { httpErrors, callErrors, HttpError, type HttpErrorCode, type CallErrorCode, type CallError } from './errors.ts'
export {
  ErrorBody, ToolSpec, ToolList, ToolListQuery, BatchCall, CallErrorBody, CallResult, InvokeBatchRequest, InvokeBatchResponse, Mode,
  QueueName, ToolMessage, WaitMs, type Batch
} from './agent-tools.ts'
export { checkBatchRequest, toBatch } from './batch-request.ts'
export { WhoAmI } from './auth.ts'
export { parseIdempotencyKey } from './idempotency-key.ts'
export { parseJobListQuery, type JobListQuery } from './job-list-query.ts'
export { checkJobRequest, SubmitJobRequest, toJobRequest, type JobRequest } from './job-request.ts'
export { checkJobTypePatch, JobTypeList, JobTypePatch, JobTypeResponse, JobTypeView } from './job-types.ts'
export { jobStates, JobList, JobResponse, JobSummary, JobView, SubmitJobResponse, type JobState } from './jobs.ts'
export { JobLogsResponse, LogEntry, logLevels, readTail, type LogLevel } from './job-log.ts'
export { BatchStreamEvents, JobStreamEvents, readSseTokenRequest, SseTokenRequest, SseTokenResponse, streamTokenParam } from './streams.ts'
export { Health, Ready } from './health.ts'
export { permissions, permissionsBeyond, type Permission, type PermissionPolicy } from './permissions.ts'
export { SkillList } from './skills.ts'
export type { JobData, OutputCut, OutputRecord, Settlement } from './wire.ts'
