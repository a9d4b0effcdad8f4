import { limits } from '@toolyard/contract/terms'
import { closedObject, type BuiltinDeclaration } from './declaration.ts'

const jobId = { type: 'string', minLength: 1, maxLength: 200, description: 'The job_id of the call that goes on.' }
const { default: waitMs, max } = limits.waitMs

export const jobResult: BuiltinDeclaration = {
  name: 'job_result',
  jobType: 'job.result',
  description: 'Get the answer of a tool call that goes on as a job. Waits for its end, and answers as the call would have: with its output or error, or that it still goes on.',
  timeoutSec: max / 1_000,
  idempotent: true,
  permissions: [],
  action: 'job_result',
  parameters: closedObject({
    job_id: jobId,
    wait_ms: { type: 'integer', minimum: 0, maximum: max, default: waitMs, description: 'How long to wait for the end, in milliseconds.' }
  }, ['job_id'])
}

export const jobCancel: BuiltinDeclaration = {
  name: 'job_cancel',
  jobType: 'job.cancel',
  description: 'Cancel a tool call that goes on as a job. One that has ended stays as it is.',
  timeoutSec: max / 1_000,
  idempotent: true,
  permissions: [],
  action: 'job_cancel',
  parameters: closedObject({ job_id: jobId }, ['job_id'])
}
