import {
  checkWorkerPatch, ErrorBody, HttpError, WorkerList, WorkerPatch, WorkerResponse, type GoneWorker, type WorkerView
} from '@toolyard/contract'
import { Type } from '@toolyard/contract/type'
import { drainWorker, listGoneWorkers, listWorkers, type GoneWorkerRecord, type Redis, type SeenWorker } from '@toolyard/store'
import { principalOf, requireAllNamespaces, requireOperator, type Principal } from '../../access/principal.ts'
import { bodyChecked } from '../../plugins/body/body-check.ts'
import type { App } from '../../plugins/typed-app.ts'

export interface WorkerControl {
  /** Those that are alive: how many there are, and at most so many of them. */
  list: (most: number) => Promise<{ count: number, workers: SeenWorker[] }>
  /** Those that went away lately, the latest first. */
  gone: () => Promise<GoneWorkerRecord[]>
  /** Lets one take no more jobs, or take them again; false where it isn't alive. */
  drain: (id: string, isDrained: boolean) => Promise<boolean>
}

export function openWorkerControl (redis: Redis): WorkerControl {
  return {
    list: async most => await listWorkers(redis, most),
    gone: async () => await listGoneWorkers(redis),
    drain: async (id, isDrained) => await drainWorker(redis, id, isDrained)
  }
}

/** Workers that a list has. */
const mostListed = 500
/** Workers among which one is looked for. */
const mostWorkers = 10_000

/** The workers. They are the operator's: a key of a tenant learns nothing of machines. */
export async function workerRoutes (app: App, { control }: { control: WorkerControl }): Promise<void> {
  app.get('/workers', { schema: { response: { 200: WorkerList, '4xx': ErrorBody, '5xx': ErrorBody } } }, async request => {
    const principal = principalOf(request)
    requireOperator(principal)
    const [{ count, workers }, gone] = await Promise.all([control.list(mostListed), control.gone()])
    return {
      ok: true as const,
      workers: workers.map(worker => view(worker, principal)),
      count,
      gone: gone.map(worker => ({ ...briefView(worker, principal), how: worker.how }))
    }
  })

  app.patch('/workers/:id', {
    config: { changes: { action: 'worker.drain', fields: ['drained'] } },
    schema: { params: Type.Object({ id: Type.String({ description: 'The id of the worker.' }) }), body: WorkerPatch, response: { 200: WorkerResponse, '4xx': ErrorBody, '5xx': ErrorBody } },
    validatorCompiler: bodyChecked(checkWorkerPatch)
  }, async request => {
    const principal = principalOf(request)
    requireOperator(principal)
    const { params: { id }, body: { drained } } = request
    const worker = (await control.list(mostWorkers)).workers.find(each => each.id === id)
    if (worker === undefined) throw new HttpError('NOT_FOUND', 'No such worker is alive')
    // It serves queues that the key may not touch.
    if (principal.queueAllowlist !== undefined) throw new HttpError('FORBIDDEN', 'A key that is bound to queues can\'t drain a worker')
    requireAllNamespaces(principal, 'to drain a worker is')
    if (worker.heardDrain === undefined) throw new HttpError('CONFLICT', 'This worker is of a release that can\'t be drained: stop it instead')
    if (!await control.drain(id, drained)) throw new HttpError('NOT_FOUND', 'No such worker is alive')
    const hasHeard = worker.drain === 'heard' ? 'heard' : 'told'
    request.log.info({ key: principal.name, worker: id, drained }, drained ? 'a worker is drained' : 'a worker is resumed')
    return { ok: true as const, worker: view({ ...worker, drain: drained ? hasHeard : 'none' }, principal) }
  })
}

/** Whether a worker takes jobs. One that was told to drain may take some until it has heard of it. */
export function stateOf ({ drain, places }: SeenWorker): WorkerView['state'] {
  if (drain === 'none') return 'working'
  return drain === 'heard' && places?.used === 0 ? 'drained' : 'draining'
}

function view (worker: SeenWorker, principal: Principal): WorkerView {
  const { places, sandbox, load, shortage } = worker
  return {
    ...briefView(worker, principal),
    places: places === undefined
      ? null
      : { used: places.used, total: places.total, per_queue: places.perQueue, all_queues: places.allQueues ?? null },
    sandbox: { level: sandbox.level, missing: [...sandbox.missing] },
    load: load === undefined ? null : { average: load.average, processors: load.processors, memory_bytes: load.memoryBytes },
    shortage: shortage ?? null,
    state: stateOf(worker)
  }
}

function briefView (worker: SeenWorker | GoneWorkerRecord, principal: Principal): Omit<GoneWorker, 'how'> {
  const { id, host, version, queues, ran, startedAt, seenAt } = worker
  return {
    id,
    host: host ?? null,
    version: version ?? null,
    queues: seenBy(principal, queues),
    ran: ran ?? null,
    started_at: startedAt,
    last_seen_at: new Date(seenAt).toISOString()
  }
}

function seenBy ({ queueAllowlist: allowed }: Principal, queues: readonly string[]): string[] {
  return queues.filter(queue => queue === '*' || (allowed?.includes(queue) ?? true))
}
