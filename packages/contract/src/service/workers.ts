import type { Static } from 'typebox'
import type { HttpError } from '../terms/errors.ts'
import { checkSwitch } from './check-switch.ts'
import { Type } from '../value/type.ts'
import { SandboxView } from '../jobs/jobs.ts'

export const WorkerState = Type.Union(
  [Type.Literal('working'), Type.Literal('draining'), Type.Literal('drained')],
  { description: '`draining` takes no more jobs, `drained` runs none either, until it is resumed.' }
)

/** A worker that is alive. What an older release doesn't tell is null. Times are those of Redis. */
export const WorkerView = Type.Object({
  id: Type.String(),
  host: Type.Union([Type.String(), Type.Null()], { description: 'The name of its machine.' }),
  version: Type.Union([Type.String(), Type.Null()], { description: 'Its release.' }),
  queues: Type.Array(Type.String(), { description: 'What it serves, as in `WORKER_QUEUES`; `*` is all.' }),
  places: Type.Union([
    Type.Object({
      used: Type.Integer({ description: 'Jobs that it runs.' }),
      total: Type.Integer({ description: 'Jobs that it can run at once in the queues that it serves now.' }),
      per_queue: Type.Integer({ description: 'Jobs of one queue that it can run at once: `WORKER_CONCURRENCY`, or `WORKER_TOTAL_CONCURRENCY` where that is less.' }),
      all_queues: Type.Union([Type.Integer(), Type.Null()], { description: '`WORKER_TOTAL_CONCURRENCY`; null: there is no bound over all queues.' })
    }),
    Type.Null()
  ]),
  sandbox: SandboxView,
  load: Type.Union([
    Type.Object({
      average: Type.Number({ description: 'Processes of its machine that wanted a processor, over the last minute.' }),
      processors: Type.Integer({ description: 'Processors that it may use.' }),
      memory_bytes: Type.Integer({ description: 'Memory of the worker process, without the processes of tools.' })
    }),
    Type.Null()
  ]),
  shortage: Type.Union([Type.String(), Type.Null()], { description: 'What it is out of, such as `ENOSPC` or `EMFILE`: it can start no process, and takes no jobs until it can.' }),
  state: WorkerState,
  ran: Type.Union([Type.Integer(), Type.Null()], { description: 'Calls that it has run since it started.' }),
  started_at: Type.String(),
  last_seen_at: Type.String({ description: 'Of its last sign of life, of which there is one every 1.5 s.' })
})
export type WorkerView = Static<typeof WorkerView>

/** A worker that is alive no longer. */
export const GoneWorker = Type.Object({
  id: Type.String(),
  host: Type.Union([Type.String(), Type.Null()]),
  version: Type.Union([Type.String(), Type.Null()]),
  queues: Type.Array(Type.String()),
  how: Type.Union([Type.Literal('left'), Type.Literal('lost')], {
    description: '`left`: it was told to stop. `lost`: it died, or its machine or network went away.'
  }),
  ran: Type.Union([Type.Integer(), Type.Null()], { description: 'Calls that it had run.' }),
  started_at: Type.String(),
  last_seen_at: Type.String()
})
export type GoneWorker = Static<typeof GoneWorker>

/** `GET /v1/workers`. */
export const WorkerList = Type.Object({
  ok: Type.Literal(true),
  workers: Type.Array(WorkerView, { description: 'The first 500 of them.' }),
  count: Type.Integer({ description: 'How many are alive.' }),
  gone: Type.Array(GoneWorker, { description: 'Those that went away in the last 7 days, the latest first; at most 100.' })
})
export type WorkerList = Static<typeof WorkerList>

/** `PATCH /v1/workers/:id`. */
export const WorkerPatch = Type.Object({
  drained: Type.Boolean({ description: 'true: it takes no more jobs. false: it takes jobs again.' })
}, { additionalProperties: false })
export type WorkerPatch = Static<typeof WorkerPatch>

/**
 * Checks the body of `PATCH /v1/workers/:id`.
 *
 * @returns undefined for a good body, else `VALIDATION_ERROR` that names the field.
 */
export function checkWorkerPatch (body: unknown): HttpError | undefined {
  return checkSwitch(body, WorkerPatch, 'drained')
}

/** Its answer: the worker as it is now. */
export const WorkerResponse = Type.Object({ ok: Type.Literal(true), worker: WorkerView })
