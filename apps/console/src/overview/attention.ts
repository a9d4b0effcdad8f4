import type { QueueView, WorkerView } from '@toolyard/contract'
import { fullnessOf } from '../files/fullness.ts'
import { hrefOf } from '../parts/route.ts'
import { programFault } from '../parts/program-fault.ts'
import { bytes, counted, span } from '../parts/times.ts'
import type { Attention, Situation } from './situation.ts'
import { lostWorkers, workerFaults } from './worker-faults.ts'

/** A job that waits longer than this tells that a queue lags, in seconds. */
const lagSec = 60
/** A tool fails when it has so many errors, and so many of its calls are errors. */
const failing = { errors: 3, rate: 0.5 }
/** More full sessions than these are told in one line. */
const mostSessions = 3

export function attentionOf (situation: Situation): Attention[] {
  const looks = [queueFaults, lostJobs, lostWorkers, questions, toolFaults, fullSessions, manifestFaults, workerFaults]
  return looks.flatMap(look => look(situation)).sort((a, b) => Number(a.severity === 'warn') - Number(b.severity === 'warn'))
}

function queueFaults ({ queues = [], workers }: Situation): Attention[] {
  const waiting = queues.filter(queue => queue.waiting > 0)
  const paused = queues.filter(queue => queue.paused && queue.waiting === 0).map(({ name }): Attention => ({
    severity: 'warn', text: `Queue ${name} is paused.`, advice: 'Nothing waits in it yet. Resume it when jobs may run.', href: hrefOf(['jobs'], { queue: name }), resumes: name
  }))
  if (workers?.length === 0) {
    const count = waiting.reduce((sum, queue) => sum + queue.waiting, 0)
    return [{
      severity: 'bad',
      text: `No worker is alive${count === 0 ? '' : `: ${counted(count, 'job')} ${count === 1 ? 'waits' : 'wait'}`}.`,
      advice: 'Start one with `toolyard worker`, with the REDIS_URL of this service.',
      href: hrefOf(['workers'])
    }]
  }
  return [...waiting.flatMap(queue => queueFault(queue, workers)), ...queues.flatMap(queue => deserted(queue, workers)), ...paused]
}

/** Workers that serve its queue notice what a lost worker ran; without one it would seem to run on. */
function deserted ({ name, running, waiting }: QueueView, workers: readonly WorkerView[] = []): Attention[] {
  const isServed = workers.some(({ queues }) => queues.includes('*') || queues.includes(name))
  if (running === 0 || waiting > 0 || isServed || workers.length === 0) return []
  return [{
    severity: 'bad',
    text: `No worker serves queue ${name}, though ${counted(running, 'job is', 'jobs are')} running there.`,
    advice: `Their worker was lost, or stopped. They end as soon as a worker serves ${name}: start one, or cancel them.`,
    href: hrefOf(['jobs'], { queue: name, status: 'running' })
  }]
}

function queueFault (queue: QueueView, all: readonly WorkerView[] = []): Attention[] {
  const { name, waiting, running, oldest_sec: oldest, workers, places, paused } = queue
  const href = hrefOf(['jobs'], { queue: name, status: 'queued' })
  const what = `${counted(waiting, 'job')} ${waiting === 1 ? 'waits' : 'wait'}, the oldest for ${span(oldest * 1_000)}`
  if (paused) return [{ severity: 'warn', text: `Queue ${name} is paused.`, advice: `${what}. Resume it when its jobs may run.`, href, resumes: name }]
  const isDrained = all.some(({ state, queues }) => state !== 'working' && (queues.includes('*') || queues.includes(name)))
  if (workers === 0 && isDrained) {
    return [{
      severity: 'bad',
      text: `Queue ${name} stands still: its workers are drained.`,
      advice: `${what}. Resume one of them, or start another.`,
      href: hrefOf(['workers'])
    }]
  }
  if (workers === 0) {
    return [{
      severity: 'bad',
      text: `Queue ${name} stands still: no worker serves it.`,
      advice: `${what}. Start a worker whose WORKER_QUEUES has ${name} or *, or cancel what waits.`,
      href
    }]
  }
  if (oldest < lagSec) return []
  if (running === 0) {
    return [{
      severity: 'bad',
      text: `Queue ${name} stands still, though ${counted(workers, 'worker serves', 'workers serve')} it.`,
      advice: `${what}. A serial tool may be busy in another queue, or a tool is missing on these workers.`,
      href
    }]
  }
  const taken = places === null ? '' : ` Its workers run ${running} of the ${counted(places, 'call')} that they can run at once.`
  return [{ severity: 'warn', text: `Queue ${name} lags.`, advice: `${what}.${taken} Start more workers, or raise WORKER_CONCURRENCY.`, href }]
}

function lostJobs ({ lost = 0 }: Situation): Attention[] {
  if (lost === 0) return []
  return [{
    severity: 'bad',
    text: `${counted(lost, 'job')} lost ${lost === 1 ? 'its' : 'their'} worker in the last 15 min.`,
    advice: 'A worker process or its machine went away. See whether all workers are back; what may be done twice can be run again.',
    href: hrefOf(['jobs'], { code: 'WORKER_LOST' })
  }]
}

function questions ({ asking = 0 }: Situation): Attention[] {
  if (asking === 0) return []
  return [{
    severity: 'warn',
    text: `${counted(asking, 'job waits', 'jobs wait')} for an answer.`,
    advice: 'A tool asks something. Answer on the page of the job: without an answer it ends with INPUT_EXPIRED.',
    href: hrefOf(['jobs'], { status: 'input_required' })
  }]
}

function toolFaults ({ statistics, registry }: Situation): Attention[] {
  const failed = (statistics?.tools ?? []).flatMap(({ name, calls, errors, error_rate: rate }): Attention[] => {
    if (name === null || errors < failing.errors || (rate ?? 0) < failing.rate) return []
    return [{
      severity: 'bad',
      text: `Tool ${name} fails: ${errors} of its last ${calls} calls.`,
      advice: 'Read the error of one of them. The tool can be switched off until it is mended.',
      href: hrefOf(['jobs'], { tool: name, status: 'failed' })
    }]
  })
  const missing = (registry?.tools ?? []).flatMap(({ name, enabled, unavailable }): Attention[] => (
    enabled && unavailable !== null ? [{ severity: 'warn', text: `Tool ${name} can't run.`, advice: unavailable, href: hrefOf(['tools', name]) }] : []
  ))
  const programs = (registry?.tools ?? []).flatMap(({ name, enabled, unavailable }): Attention[] => {
    const fault = enabled && unavailable === null ? programFault(name, registry?.findings ?? []) : undefined
    if (fault === undefined) return []
    return [{
      severity: 'warn',
      text: `Tool ${name} may not run.`,
      advice: `${fault.message}. So it is on the API's machine; where workers are on others, look there, too.`,
      href: hrefOf(['tools', name])
    }]
  })
  return [...failed, ...missing, ...programs]
}

function fullSessions ({ sessions = [] }: Situation): Attention[] {
  const found = sessions.flatMap(session => {
    const fullness = session.state === 'open' ? fullnessOf(session) : undefined
    return fullness === undefined ? [] : [{ ...session, fullness }]
  })
  const advice = 'Calls that write fail with QUOTA_EXCEEDED once it is full. Remove files, or the session.'
  if (found.length > mostSessions) {
    return [{ severity: 'warn', text: `${counted(found.length, 'session')} are full, or almost.`, advice, href: hrefOf(['sessions']) }]
  }
  return found.map(({ id, fullness, used_bytes: used, quota_bytes: quota }) => ({
    severity: 'warn', text: `Session ${id.slice(-12)} is ${fullness}.`, advice: `Its files take ${bytes(used ?? 0)} of ${bytes(quota)}. ${advice}`, href: hrefOf(['sessions', id])
  }))
}

function manifestFaults ({ registry }: Situation): Attention[] {
  const faults = (registry?.findings ?? []).filter(({ severity }) => severity === 'error')
  const [first] = faults
  if (first === undefined) return []
  const where = `${first.file}${first.line === null ? '' : `:${first.line}`}`
  return [{ severity: 'warn', text: `The manifests have ${counted(faults.length, 'fault')}.`, advice: `${where}: ${first.message}`, href: hrefOf(['tools']) }]
}
