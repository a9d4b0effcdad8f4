export { limits, defaultQueue, queueNamePattern, publishableNamePattern } from './limits.ts'
export { httpErrors, callErrors, HttpError, type HttpErrorCode, type CallErrorCode, type CallError } from './errors.ts'
export {
  ErrorBody, ToolSpec, ToolList, ToolListQuery, BatchCall, CallErrorBody, CallResult, InvokeBatchRequest, InvokeBatchResponse, Mode,
  QueueName, ToolMessage, WaitMs, type Batch
} from './agent-tools.ts'
export { checkBatchRequest, toBatch } from './batch-request.ts'
export { jobStates, JobResponse, JobView, type JobState } from './jobs.ts'
export { Health, Ready } from './health.ts'
export { SkillList } from './skills.ts'
export type { JobData, OutputCut, OutputRecord, Settlement } from './wire.ts'
