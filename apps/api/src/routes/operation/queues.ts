import { checkQueuePatch, ErrorBody, HttpError, QueueList, QueuePatch, QueueResponse, type QueueView } from '@toolyard/contract'
import { Type } from '@toolyard/contract/type'
import type { SeenWorker } from '@toolyard/store'
import type { CountedQueue } from '@toolyard/runtime'
import { principalOf, requireAllNamespaces, requireOperator, type Principal } from '../../access/principal.ts'
import { bodyChecked } from '../../plugins/body/body-check.ts'
import type { App } from '../../plugins/typed-app.ts'
import type { WorkerControl } from './workers.ts'

export interface QueueControl {
  /** Jobs that have not ended, by queue. */
  count: () => Promise<CountedQueue[]>
  pause: (queue: string, isPaused: boolean) => Promise<void>
}

const mostWorkers = 10_000

/** The queues. They are the operator's: the work of all tenants is in them. */
export async function queueRoutes (app: App, control: QueueControl, workers: Pick<WorkerControl, 'list'>): Promise<void> {
  app.get('/queues', {
    config: { makesWork: true },
    schema: { response: { 200: QueueList, '4xx': ErrorBody, '5xx': ErrorBody } }
  }, async request => {
    const queues = await seenBy(principalOf(request))
    return { ok: true as const, queues, count: queues.length }
  })

  app.patch('/queues/:name', {
    config: { changes: { action: 'queue.switch', fields: ['paused'] } },
    schema: { params: Type.Object({ name: Type.String() }), body: QueuePatch, response: { 200: QueueResponse, '4xx': ErrorBody, '5xx': ErrorBody } },
    validatorCompiler: bodyChecked(checkQueuePatch)
  }, async request => {
    const principal = principalOf(request)
    const { paused } = request.body
    const queue = (await seenBy(principal)).find(({ name }) => name === request.params.name)
    if (queue === undefined) throw new HttpError('NOT_FOUND', 'There is no such queue: a queue is there as soon as a job names it')
    // Jobs of all tools wait in it.
    requireAllNamespaces(principal, 'to pause a queue is')
    await control.pause(queue.name, paused)
    request.log.info({ key: principal.name, queue: queue.name, paused }, 'a queue is switched')
    return { ok: true as const, queue: { ...queue, paused } }
  })

  async function seenBy (principal: Principal): Promise<QueueView[]> {
    requireOperator(principal)
    const [counted, alive] = await Promise.all([control.count(), workers.list(mostWorkers)])
    return counted
      .filter(({ queue }) => principal.queueAllowlist?.includes(queue) ?? true)
      .sort((a, b) => a.queue < b.queue ? -1 : 1)
      .map(queue => view(queue, alive.workers))
  }
}

function view (counted: CountedQueue, all: readonly SeenWorker[]): QueueView {
  const { queue, isPaused, waiting, delayed, blocked, held, running, oldestSec } = counted
  const workers = all.filter(({ queues, drain }) => drain === 'none' && queues.some(served => served === '*' || served === queue))
  const places = workers.map(worker => worker.places?.perQueue)
  return {
    name: queue,
    paused: isPaused,
    waiting,
    delayed,
    blocked,
    held,
    running,
    oldest_sec: oldestSec,
    workers: workers.length,
    places: places.every(count => count !== undefined) ? places.reduce((sum, count) => sum + count, 0) : null
  }
}
