import type { ApprovalCallbackBody, ApprovalView } from '@toolyard/contract'
import { approvalEventsKey, keyPrefix, serverTime, type Redis } from '@toolyard/store'
import { readShown, type ShownHold } from '../read/held-calls.ts'
import { beginTurn, eventOwners, leaveEvents, openEvents, strikeOutEvent, strikeOutEvents, type OpenEvent } from '../queues/callback-outbox.ts'
import type { JobQueues } from '../queues/job-queues.ts'

/** Entries of an owner that are read at once, and of these the calls that are looked at before the next owner has its turn. */
const perPage = { entries: 200, calls: 20 }
/** The same for one turn of the upkeep, and how many owners it serves. */
const perTurn = { entries: 20_000, calls: 300, owners: 1_000 }
/** An event that has not come to be so long after it was entered never will, in milliseconds. */
const patienceMs = 10_000
/** Older releases enter the events of all owners here, or those of one below it. */
const olderKeys = { all: `${keyPrefix}:approval-events`, owners: `${keyPrefix}:{approval-events}` }

/** Removes events that were taken, but not those that were entered anew meanwhile. KEYS: events. ARGV: times and entries. */
const takenScript = `
for at = 1, #ARGV, 2 do
  if redis.call('ZSCORE', KEYS[1], ARGV[at + 1]) == ARGV[at] then redis.call('ZREM', KEYS[1], ARGV[at + 1]) end
end
`

interface ApprovalEventParts {
  redis: Redis
  queues: JobQueues
  /** Who is told of all held calls, beside the `callback_url` of each. */
  approvalUrl?: string | undefined
}

/** An owner, and how many of its entries wait to come to be. */
interface Line {
  owner: string
  behind: number
}

/** Posts the callbacks about held calls that came to be. Calls of which nobody is told are not looked at. */
export async function postApprovalEvents (parts: ApprovalEventParts): Promise<void> {
  await takeOlder(parts.redis)
  let lines: Line[] = (await eventOwners(parts.redis, perTurn.owners)).map(owner => ({ owner, behind: 0 }))
  let [read, looked] = [0, 0]
  while (lines.length > 0) {
    const more: Line[] = []
    for (const line of lines) {
      if (read >= perTurn.entries || looked >= perTurn.calls) return
      const page = await postPage(line, parts)
      read += page.read
      looked += page.looked
      if (page.hasMore) more.push({ owner: line.owner, behind: page.behind })
      else await leaveEvents(parts.redis, line.owner)
    }
    lines = more
  }
}

/** Takes events of older releases. Those that don't say whose they are have an owner of their own. */
async function takeOlder (redis: Redis): Promise<void> {
  await takePage(redis, olderKeys.all, '')
  for (const owner of await redis.zrange(olderKeys.owners, '0', String(perTurn.owners - 1))) {
    const key = `${olderKeys.owners}:${owner}`
    if (!await takePage(redis, key, owner)) await leaveEvents(redis, owner, [olderKeys.owners, key])
  }
}

/** To take some twice changes nothing. @returns whether there were any */
async function takePage (redis: Redis, key: string, owner: string): Promise<boolean> {
  const flat = await redis.zrange(key, '0', String(perPage.entries - 1), 'WITHSCORES')
  const members = flat.filter((_, place) => place % 2 === 0)
  if (members.length === 0) return false
  const taken = members.flatMap((member, place) => [flat[place * 2 + 1] ?? '', member])
  await redis.zadd(approvalEventsKey(owner), 'GT', ...taken)
  await redis.zadd(approvalEventsKey(), 'NX', '0', owner)
  await redis.eval(takenScript, 1, key, ...taken)
  return true
}

async function postPage (
  { owner, behind }: Line, parts: ApprovalEventParts
): Promise<{ read: number, looked: number, behind: number, hasMore: boolean }> {
  const { redis, approvalUrl } = parts
  // First of all, so that one whose events fail leaves the next turn to others.
  await beginTurn(redis, owner)
  const page = await openEvents(redis, owner, { behind, most: perPage.entries })
  await strikeOutEvents(redis, owner, page.filter(open => !isTold(open, approvalUrl)))
  const told = page.filter(open => isTold(open, approvalUrl))
  const some = told.slice(0, perPage.calls)
  const left = await tell(owner, some, parts)
  const hasMore = told.length > some.length || page.length === perPage.entries
  return { read: page.length, looked: some.length, behind: behind + left, hasMore }
}

function isTold ({ hasOwn }: OpenEvent, approvalUrl: string | undefined): boolean {
  return hasOwn || approvalUrl !== undefined
}

/** Gives how many entries are not done with. */
async function tell (owner: string, events: readonly OpenEvent[], parts: ApprovalEventParts): Promise<number> {
  const { redis } = parts
  if (events.length === 0) return 0
  const calls = await readShown(redis, events.map(({ queue, jobId: id }) => ({ queue, id })))
  const waiting = await Promise.all(events.map(async (open, place) => {
    const call = calls[place]
    const mayCome = serverTime(redis) < open.at + patienceMs
    const isDue = call !== undefined && isSo(open, call.approval, mayCome)
    if (!isDue && mayCome) return true
    await strikeOutEvent(redis, owner, open, isDue ? await post(open, call, parts) : [])
    return false
  }))
  return waiting.filter(each => each).length
}

/**
 * A call that was decided about before anybody was told that it is held is told of once. Where several must approve, the last decision
 * may be an earlier one than that which was entered.
 *
 * @param mayCome whether that may still come; clocks of Redis' servers may differ, so that it may be there as well
 */
function isSo ({ event, at }: OpenEvent, { state, decisions }: ApprovalView, mayCome: boolean): boolean {
  if (event === 'approval.requested') return state === 'held'
  const last = decisions.at(-1)
  return state !== 'held' || (last !== undefined && (!mayCome || Date.parse(last.at) >= at))
}

/** @returns the ids of the callbacks */
async function post ({ queue, jobId, event }: OpenEvent, call: ShownHold, { queues, approvalUrl }: ApprovalEventParts): Promise<string[]> {
  const { shown, type, approval } = call
  const { tool, keyName: key, tenant = null, session = null, conversation = null, callbackUrl, preview } = shown
  const about = { id: jobId, type, tool, key, tenant, session, conversation }
  const body: ApprovalCallbackBody = { event, ...about, arguments_preview: preview, approval }
  const time = Date.parse(event === 'approval.requested' ? approval.held_at : approval.decisions.at(-1)?.at ?? approval.held_at)
  const urls = [...new Set([approvalUrl, callbackUrl].filter(url => url !== undefined))]
  const ids = urls.map((_, place) => `${jobId}.${event}.${time}.${place}`)
  for (const [place, url] of urls.entries()) {
    await queues.callbacks.add({ url, queue, jobId, type, body }, ids[place] ?? '', { keyName: key, tenant: shown.tenant })
  }
  return ids
}
