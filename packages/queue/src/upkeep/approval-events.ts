import type { ApprovalCallbackBody, ApprovalView } from '@toolyard/contract'
import { limits, writeJson } from '@toolyard/contract/terms'
import { serverTime, type Redis } from '@toolyard/store'
import type { HeldCall } from '../read/held-calls.ts'
import type { JobReader } from '../read/job-reader.ts'
import { openEvents, strikeOutEvent, strikeOutEvents, type OpenEvent } from '../queues/callback-outbox.ts'
import type { JobQueues } from '../queues/job-queues.ts'

/** Entries that are read at once. */
const pageSize = 200
/** Entries that one turn reads, and of these the calls that it looks at. */
const perTurn = { entries: 20_000, calls: 300 }
/** An event that has not come to be so long after it was entered never will, in milliseconds. */
const patienceMs = 10_000

export interface ApprovalEventParts {
  redis: Redis
  queues: JobQueues
  jobs: JobReader
  /** Who is told of all held calls, beside the `callback_url` of each. */
  approvalUrl: string | undefined
}

/** Posts the callbacks about held calls that came to be. Calls of which nobody is told are not looked at. */
export async function postApprovalEvents (parts: ApprovalEventParts): Promise<void> {
  const { redis, approvalUrl } = parts
  let [read, looked, behind] = [0, 0, 0]
  while (read < perTurn.entries) {
    const page = await openEvents(redis, { behind, most: pageSize })
    read += page.length
    await strikeOutEvents(redis, page.filter(open => !isTold(open, approvalUrl)))
    for (const open of page.filter(open => isTold(open, approvalUrl))) {
      if (looked++ >= perTurn.calls) return
      if (!await tell(open, parts)) behind++
    }
    if (page.length < pageSize) return
  }
}

function isTold ({ hasOwn }: OpenEvent, approvalUrl: string | undefined): boolean {
  return hasOwn || approvalUrl !== undefined
}

/** Whether an entry is done with. */
async function tell (open: OpenEvent, parts: ApprovalEventParts): Promise<boolean> {
  const { redis, jobs } = parts
  const call = await jobs.held(open.queue, open.jobId)
  if (call !== undefined && isSo(open, call.approval)) await post(open, call, parts)
  else if (serverTime(redis) < open.at + patienceMs) return false
  await strikeOutEvent(redis, open)
  return true
}

/** A call that was decided about before anybody was told that it is held is told of once. */
function isSo ({ event }: OpenEvent, { state, decisions }: ApprovalView): boolean {
  return event === 'approval.requested' ? state === 'held' : state !== 'held' || decisions.length > 0
}

async function post ({ queue, jobId, event }: OpenEvent, call: HeldCall, { queues, approvalUrl }: ApprovalEventParts): Promise<void> {
  const { type, tool, keyName: key, tenant = null, session = null, conversation = null, callbackUrl, approval } = call
  const preview = writeJson(call.arguments).slice(0, limits.previewChars)
  const about = { id: jobId, type, tool, key, tenant, session, conversation }
  const body: ApprovalCallbackBody = { event, ...about, arguments_preview: preview, approval }
  const time = Date.parse(event === 'approval.requested' ? approval.held_at : approval.decisions.at(-1)?.at ?? approval.held_at)
  const urls = new Set([approvalUrl, callbackUrl].filter(url => url !== undefined))
  for (const [place, url] of [...urls].entries()) {
    await queues.callbacks.add({ url, queue, jobId, type, body }, `${jobId}.${event}.${time}.${place}`, { keyName: key, tenant: call.tenant })
  }
}
