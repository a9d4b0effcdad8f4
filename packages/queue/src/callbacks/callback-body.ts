import type { CallbackBody, CallbackData, OutputRecord } from '@toolyard/contract'
import { around } from '@toolyard/contract/terms'
import { cancelled } from '../record/cancellation.ts'
import { isoTime } from '../record/job-times.ts'
import type { OutputStore, TruncatedOutput } from '../record/output-store.ts'
import { RedisUnavailableError } from '@toolyard/store'

/**
 * What is sent of a job's end; a large output is truncated as in an answer to a model.
 *
 * @throws RedisUnavailableError
 */
export async function callbackBody (data: CallbackData, outputs: OutputStore): Promise<CallbackBody> {
  const { settlement } = data
  const endedAt = isoTime(data.finishedOn)
  return around({
    id: data.jobId,
    type: data.type,
    status: settlement.ok ? 'succeeded' : settlement.error.code === cancelled.code ? 'cancelled' : 'failed',
    attempts: data.attempts,
    max_attempts: data.maxAttempts,
    result: settlement.ok
      ? (await outputs.readForModel(data.queue, data.jobId, settlement.output).catch((error: unknown) =>
          ({ value: withoutOutput(error, settlement.output) }))).value
      : null,
    error: settlement.ok ? null : { ...settlement.error, at: endedAt },
    updated_at: endedAt
  })
}

/** A callback that is sent late may find the output's retention time over. */
function withoutOutput (error: unknown, output: OutputRecord): TruncatedOutput {
  if (error instanceof RedisUnavailableError) throw error
  return { truncated: true, bytes: output.kind === 'stored' ? output.bytes : 0, preview: '' }
}
