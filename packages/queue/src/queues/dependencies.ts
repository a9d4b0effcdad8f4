import type { CallError, JobDependency, JobState } from '@toolyard/contract'
import { grouped, isRecord } from '@toolyard/contract/terms'
import { isCancelled } from '../record/cancellation.ts'
import { type Redis, dependentsKey, jobKey, goOnWhenFull, readStored } from '@toolyard/store'
import { decodeData } from '../record/job-arguments.ts'
import { standingOf } from '../record/job-standing.ts'
import { release, type FlowParts } from './release.ts'

/*
 * A job that depends on jobs which exist already (`depends_on`). It is parked, and each job that it depends
 * on has a set of the jobs that wait for it. Whoever settles a job looks at them; a look is the same whoever does it,
 * however often. See docs/decisions/0044-dependencies.md.
 *
 * States: parked (added) -> registered with each pending dependency -> released -> taken by a worker. A process that dies
 * on the way leaves a parked job, which the upkeep finds.
 *
 * Every command and script here works in the slot of one job: queues may be on different nodes of a cluster.
 */

/** A dependency that can't be met any more. */
interface BrokenDependency {
  job_id: string
  status: Extract<JobState, 'failed' | 'cancelled'> | 'missing'
}

interface DependencyReport {
  pending: string[]
  broken: BrokenDependency[]
}

/** How long Redis keeps who waits for a job, in seconds. The upkeep finds those that wait longer. */
const knownSec = 86_400

/** Registers a waiting job with one that it depends on, unless that has ended. KEYS: job, its dependents. ARGV: who waits. */
const registerScript = `
if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('HEXISTS', KEYS[1], 'finishedOn') == 1 then return 0 end
${goOnWhenFull('KEYS[1]')}
local added = redis.call('SADD', KEYS[2], ARGV[1])
redis.call('EXPIRE', KEYS[2], ${knownSec})
return added
`
/** Notes dependencies that have succeeded in the record of the waiting job. KEYS: job. ARGV: their ids. */
const noteScript = `
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
${goOnWhenFull('KEYS[1]')}
for _, id in ipairs(ARGV) do redis.call('HSET', KEYS[1], 'met:' .. id, '1') end
return #ARGV
`

const dependenciesField = 'needs'
/** KEYS: job. ARGV: what it depends on, as JSON. */
const noteDependenciesScript = `
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
${goOnWhenFull('KEYS[1]')}
return redis.call('HSET', KEYS[1], '${dependenciesField}', ARGV[1])
`

/** To be called when a job that waits for others was added. */
export async function waitForDependencies (
  parts: FlowParts, { queue, id }: { queue: string, id: string }, dependsOn: readonly JobDependency[]
): Promise<void> {
  const registered = await Promise.all(dependsOn.map(dependency => register(parts.redis, dependency, memberOf(queue, id))))
  if (registered.includes(false)) await releaseIfReady(parts, queue, id)
}

/** To be called when a job has been settled: releases those that need not wait any more. Nobody comes to wait for it after that. */
export async function releaseDependents (parts: FlowParts, queue: string, jobId: string): Promise<void> {
  const key = dependentsKey(queue, jobId)
  const members = await parts.redis.smembers(key)
  for (const member of members) {
    const at = member.indexOf('|')
    await releaseIfReady(parts, member.slice(at + 1), member.slice(0, at))
  }
  if (members.length > 0) await parts.redis.del(key)
}

/** To be called when a job that waited for others has ended. */
export async function leaveDependencies (
  redis: Redis, { queue, id }: { queue: string, id: string }, dependsOn: readonly JobDependency[]
): Promise<void> {
  await Promise.all(dependsOn.map(async dependency => {
    if (dependency.queue !== undefined) await redis.srem(dependentsKey(dependency.queue, dependency.id), memberOf(queue, id))
  }))
}

/** Releases a parked job when its dependencies allow it, or make it impossible. */
export async function releaseIfReady (parts: FlowParts, queue: string, jobId: string): Promise<void> {
  const [noted = null, timestamp, delay] = await parts.redis.hmget(jobKey(queue, jobId), dependenciesField, 'timestamp', 'delay')
  const dependsOn = noted === null ? await noteDependencies(parts.redis, queue, jobId) : readStored('the dependencies of a job', noted, isDependencies)
  if (dependsOn === undefined) return
  const { pending, broken } = await examineDependencies(parts.redis, queue, jobId, dependsOn)
  if (broken.length > 0) await release(parts, queue, jobId)
  else if (pending.length === 0) await release(parts, queue, jobId, Number(timestamp) + Number(delay ?? 0))
}

/** Reads what a job depends on, which its data says, and notes it beside that: who looks again reads no megabyte of arguments. */
async function noteDependencies (redis: Redis, queue: string, jobId: string): Promise<readonly JobDependency[] | undefined> {
  const text = await redis.hget(jobKey(queue, jobId), 'data')
  const dependsOn = text === null ? undefined : decodeData(text).dependsOn
  if (dependsOn !== undefined) await redis.eval(noteDependenciesScript, 1, jobKey(queue, jobId), JSON.stringify(dependsOn))
  return dependsOn
}

function isDependencies (value: unknown): value is JobDependency[] {
  return Array.isArray(value) && value.every(each => isRecord(each) && typeof each['id'] === 'string' && ['string', 'undefined'].includes(typeof each['queue']))
}

/** Tells what is left of a job's dependencies, and notes those that have succeeded. */
export async function examineDependencies (
  redis: Redis, queue: string, jobId: string, dependsOn: readonly JobDependency[]
): Promise<DependencyReport> {
  const report: DependencyReport = { pending: [], broken: [] }
  if (dependsOn.length === 0) return report
  const notes = await redis.hmget(jobKey(queue, jobId), ...dependsOn.map(({ id }) => `met:${id}`))
  const open = dependsOn.filter((_dependency, index) => notes[index] !== '1')
  const states = await statesOf(redis, open)
  const met = open.filter((_dependency, index) => states[index] === 'succeeded')
  for (const [index, { id }] of open.entries()) {
    const state = states[index] ?? 'missing'
    if (state === 'pending') report.pending.push(id)
    else if (state !== 'succeeded') report.broken.push({ job_id: id, status: state })
  }
  if (met.length > 0) await redis.eval(noteScript, 1, jobKey(queue, jobId), ...met.map(({ id }) => id))
  const ended = open.filter((_dependency, index) => states[index] !== 'pending')
  await Promise.all(ended.map(async dependency => {
    if (dependency.queue !== undefined) await redis.srem(dependentsKey(dependency.queue, dependency.id), memberOf(queue, jobId))
  }))
  return report
}

export function dependencyError (broken: readonly BrokenDependency[]): CallError {
  return { code: 'DEPENDENCY_BLOCKED', message: 'Dependency failed or missing', details: { dependencies: broken } }
}

async function register (redis: Redis, { id, queue }: JobDependency, member: string): Promise<boolean> {
  if (queue === undefined) return false
  // Registering twice adds nothing, and is as good.
  return await redis.eval(registerScript, 2, jobKey(queue, id), dependentsKey(queue, id), member) !== 0 ||
    await redis.sismember(dependentsKey(queue, id), member) === 1
}

type DependencyState = 'succeeded' | 'pending' | BrokenDependency['status']

/** In their order. Those that go on, most of them, are found with one command for each queue. */
async function statesOf (redis: Redis, dependencies: readonly JobDependency[]): Promise<DependencyState[]> {
  const pending = new Set<JobDependency>()
  await Promise.all([...grouped(dependencies, ({ queue }) => queue)].map(async ([queue, own]) => {
    if (queue === undefined) return
    const standings = await standingOf(redis, queue, own.map(({ id }) => id))
    for (const [place, dependency] of own.entries()) if (standings[place] === 'open') pending.add(dependency)
  }))
  return await Promise.all(dependencies.map(async dependency => pending.has(dependency) ? 'pending' : await stateOf(redis, dependency)))
}

async function stateOf (redis: Redis, { id, queue }: JobDependency): Promise<DependencyState> {
  if (queue === undefined) return 'missing'
  const key = jobKey(queue, id)
  const [[timestamp, finishedOn, failedReason], hasOutput] = await Promise.all([
    redis.hmget(key, 'timestamp', 'finishedOn', 'failedReason'), redis.hexists(key, 'returnvalue')
  ])
  if (timestamp === null || timestamp === undefined) return 'missing'
  if (finishedOn === null || finishedOn === undefined) return 'pending'
  if (hasOutput === 1) return 'succeeded'
  return isCancelled(failedReason ?? null) ? 'cancelled' : 'failed'
}

function memberOf (queue: string, jobId: string): string {
  return `${jobId}|${queue}`
}
