import { ErrorBody, QueueList, type QueueView } from '@toolyard/contract'
import type { SeenWorker } from '@toolyard/queue'
import type { CountedQueue } from '@toolyard/runtime'
import { principalOf, requireOperator } from '../../access/principal.ts'
import type { App } from '../../plugins/typed-app.ts'
import type { FindWorkers } from './workers.ts'

/** What has not ended in the queues. */
export type CountQueues = () => Promise<CountedQueue[]>

export interface QueueRoutesOptions {
  count: CountQueues
  findWorkers: FindWorkers
}

const mostWorkers = 10_000

/** The queues. They are the operator's: the work of all tenants is in them. */
export async function queueRoutes (app: App, { count, findWorkers }: QueueRoutesOptions): Promise<void> {
  app.get('/queues', {
    config: { makesWork: true },
    schema: { response: { 200: QueueList, '4xx': ErrorBody, '5xx': ErrorBody } }
  }, async request => {
    const principal = principalOf(request)
    requireOperator(principal)
    const [counted, { workers }] = await Promise.all([count(), findWorkers(mostWorkers)])
    const queues = counted
      .filter(({ queue }) => principal.queueAllowlist?.includes(queue) ?? true)
      .sort((a, b) => a.queue < b.queue ? -1 : 1)
      .map(queue => view(queue, workers))
    return { ok: true as const, queues, count: queues.length }
  })
}

function view ({ queue, isPaused, waiting, delayed, blocked, running, oldestSec }: CountedQueue, all: readonly SeenWorker[]): QueueView {
  const workers = all.filter(({ queues }) => queues.some(served => served === '*' || served === queue))
  const places = workers.map(worker => worker.places?.perQueue)
  return {
    name: queue,
    paused: isPaused,
    waiting,
    delayed,
    blocked,
    running,
    oldest_sec: oldestSec,
    workers: workers.length,
    places: places.every(count => count !== undefined) ? places.reduce((sum, count) => sum + count, 0) : null
  }
}
