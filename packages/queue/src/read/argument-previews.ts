import type { JobData, JobSummary } from '@toolyard/contract'
import { around, firstChars } from '@toolyard/contract/terms'
import { mapInTurns } from '@toolyard/runtime'
import { fromRedis, jobKey, pipelined, type Redis } from '@toolyard/store'
import { decodeData } from '../record/job-arguments.ts'

/** A list is read every other second: data that is longer isn't read for it. */
const mostBytes = 8_192
const previewChars = 120

const dataScript = `
if redis.call('HSTRLEN', KEYS[1], 'data') > ${mostBytes} then return '' end
return redis.call('HGET', KEYS[1], 'data')
`

/** Jobs of a list with the beginning of their arguments. @throws RedisUnavailableError */
export async function withPreviews (redis: Redis, jobs: readonly JobSummary[]): Promise<JobSummary[]> {
  const replies = await pipelined(redis, jobs, job => job.queue, (pipeline, { queue, id }) => {
    pipeline.eval(dataScript, 1, jobKey(queue, id))
  })
  const previews = await mapInTurns(replies, reply => {
    if (reply instanceof Error) throw reply
    const [data] = fromRedis<[string | null]>(reply)
    return data === null ? undefined : data === '' ? '{…}' : previewOf(decodeData(data))
  })
  return jobs.map((job, place) => {
    const preview = previews[place]
    return preview === undefined ? job : around({ ...job, input_preview: preview })
  })
}

function previewOf ({ arguments: args, argumentsText: text = JSON.stringify(args) }: JobData): string {
  // No half of a character at the end.
  return text.length <= previewChars ? text : `${firstChars(text, previewChars)}…`
}
