import type { BulkChanges, CallStatistics } from '@toolyard/queue'
import type { App } from '../../plugins/typed-app.ts'
import type { ChangeTrail } from '@toolyard/store'
import { bulkRoutes } from './bulk.ts'
import { changeRoutes } from './changes.ts'
import { queueRoutes, type QueueDesk } from './queues.ts'
import { statisticsRoutes } from './statistics.ts'
import { workerRoutes, type WorkerDesk } from './workers.ts'

export interface OperationDeps {
  bulk: BulkChanges
  changes: ChangeTrail
  queueDesk: QueueDesk
  workerDesk: WorkerDesk
  statistics: CallStatistics
}

export async function operationRoutes (app: App, { bulk, changes, queueDesk, workerDesk, statistics }: OperationDeps): Promise<void> {
  await app.register(bulkRoutes, { bulk })
  await app.register(changeRoutes, { changes })
  await queueRoutes(app, queueDesk, workerDesk)
  await app.register(statisticsRoutes, { statistics })
  await app.register(workerRoutes, { desk: workerDesk })
}
