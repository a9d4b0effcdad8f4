import type { BulkChanges, CallStatistics } from '@toolyard/queue'
import type { App } from '../../plugins/typed-app.ts'
import { bulkRoutes } from './bulk.ts'
import { queueRoutes, type QueueDesk } from './queues.ts'
import { statisticsRoutes } from './statistics.ts'
import { workerRoutes, type FindWorkers } from './workers.ts'

export interface OperationDeps {
  bulk: BulkChanges
  queueDesk: QueueDesk
  findWorkers: FindWorkers
  statistics: CallStatistics
}

/** Queues, workers, statistics, and changes of many jobs. */
export async function operationRoutes (app: App, { bulk, queueDesk, findWorkers, statistics }: OperationDeps): Promise<void> {
  await app.register(bulkRoutes, { bulk })
  await app.register(queueRoutes, { queues: queueDesk, findWorkers })
  await app.register(statisticsRoutes, { statistics })
  await app.register(workerRoutes, { find: findWorkers })
}
