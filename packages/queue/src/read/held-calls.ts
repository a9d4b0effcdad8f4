import type { ApprovalView, JobSummary, JobView } from '@toolyard/contract'
import { isRecord } from '@toolyard/contract/terms'
import { fromRedis, jobKey, pipelined, readStored, type Redis } from '@toolyard/store'
import { approvalField, approvalView, decodeApproval, firstApproval, shownField, type ShownCall } from '../record/approval.ts'

export interface HeldCall extends Omit<ShownCall, 'preview'> {
  queue: string
  id: string
  type: string
  parentId: string | undefined
  /** As they will be handed over, to be written by `writeJson` alone. */
  arguments: unknown
  approval: ApprovalView
  /** The digest of the tool's files, as they were when the call was held last; null where they couldn't be read. */
  program: string | null
  submittedAt: string
  status: JobView['status']
}

/** A held call as lists have it: with the beginning of its arguments. */
export type ListedCall = Omit<HeldCall, 'arguments' | 'program'> & { preview: string }

/** What is kept beside a call that was held, to be shown. */
export interface ShownHold {
  shown: ShownCall
  type: string
  approval: ApprovalView
}

/**
 * Reads what is shown of calls that were held, in their order; undefined where there is none. To read and parse up to a megabyte of
 * arguments for each of them took a process seconds.
 *
 * @throws RedisUnavailableError
 */
export async function readShown (redis: Redis, calls: ReadonlyArray<{ queue: string, id: string }>): Promise<Array<ShownHold | undefined>> {
  const replies = await pipelined(redis, calls, call => call.queue, (pipeline, { queue, id }) => {
    pipeline.hmget(jobKey(queue, id), shownField, 'name', 'timestamp', approvalField)
  })
  return calls.map((_call, place) => {
    const reply = replies[place]
    if (reply === undefined || reply instanceof Error) throw reply ?? new Error('Redis gave no reply')
    const [[text, type, timestamp, approval]] = fromRedis<[Array<string | null>]>(reply)
    if (text === null || text === undefined) return undefined
    const shown = readStored('what is shown of a held call', text, isShown)
    const record = decodeApproval(approval) ?? firstApproval(shown.hold, Number(timestamp))
    return { shown, type: type ?? '', approval: approvalView(shown.hold, record) }
  })
}

/**
 * Reads what a list shows of held calls; one that was decided meanwhile is left out.
 *
 * @throws RedisUnavailableError
 */
export async function listHeld (redis: Redis, jobs: readonly JobSummary[]): Promise<ListedCall[]> {
  const held = await readShown(redis, jobs)
  return jobs.flatMap((job, place) => {
    const found = held[place]
    return found?.approval.state === 'held' ? [listed(job, found.shown, found.approval)] : []
  })
}

function isShown (value: unknown): value is ShownCall {
  return isRecord(value) && typeof value['tool'] === 'string' && typeof value['keyName'] === 'string' && isRecord(value['hold'])
}

function listed (
  { id, queue, type, parent_id: parentId, created_at: submittedAt, status }: JobSummary,
  { tool, version, keyName, tenant, session, conversation, callbackUrl, hold, preview }: ShownCall,
  approval: ApprovalView
): ListedCall {
  const about = { id, queue, type, parentId, submittedAt, status }
  return { ...about, tool, version, keyName, tenant, session, conversation, callbackUrl, hold, preview, approval }
}
