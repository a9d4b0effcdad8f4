import type { Static } from 'typebox'
import { Type } from '../value/type.ts'
import { SandboxView } from '../jobs/jobs.ts'

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
  started_at: Type.String(),
  last_seen_at: Type.String({ description: 'Of its last sign of life, of which there is one every 1.5 s.' })
})
export type WorkerView = Static<typeof WorkerView>

/** A worker that died, or whose machine or network went away. */
export const LostWorker = Type.Object({
  id: Type.String(),
  host: Type.Union([Type.String(), Type.Null()]),
  last_seen_at: Type.String()
})
export type LostWorker = Static<typeof LostWorker>

/** `GET /v1/workers`. */
export const WorkerList = Type.Object({
  ok: Type.Literal(true),
  workers: Type.Array(WorkerView, { description: 'The first 500 of them.' }),
  count: Type.Integer({ description: 'How many are alive.' }),
  lost: Type.Array(LostWorker, { description: 'Those that went away in the last 15 min without leaving, the latest first; at most 100.' })
})
export type WorkerList = Static<typeof WorkerList>
