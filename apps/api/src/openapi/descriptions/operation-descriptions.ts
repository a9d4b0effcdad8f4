import { limits, tenantNamePattern } from '@toolyard/contract'
import { Type } from '@toolyard/contract/type'
import { examples } from './examples.ts'
import type { RouteDescription } from './route-description.ts'

const shownTool = {
  name: 'word_count',
  type: 'agentcli.word_count',
  description: 'Counts words.',
  format: 'agentcli',
  runs: 'command',
  enabled: true,
  unavailable: null,
  permissions: ['read_repo'],
  file: '/srv/tools/tools.json'
}

const shownChange = {
  id: '1764200000000-0',
  at: '2026-11-27T00:13:20.000Z',
  key: 'boss',
  tenant: null,
  action: 'queue.switch',
  target: 'reports',
  about: { paused: true },
  request: examples.requestId
}

export const operationDescriptions: Readonly<Record<string, RouteDescription>> = {
  'GET /v1/workers': {
    id: 'workers.list',
    tag: 'operation',
    summary: 'List the workers that are alive',
    description: 'For keys without a tenant. A key that is bound to queues sees the names of these alone. One that was stopped, or has died for 5 s, is in `gone` for 7 days.',
    answers: { 200: { description: 'The workers.', example: { ok: true, workers: [examples.worker], count: 1, gone: [examples.goneWorker] } } }
  },
  'PATCH /v1/workers/:id': {
    id: 'workers.drain',
    tag: 'operation',
    summary: 'Drain a worker, or resume it',
    description: 'A worker that is drained takes no more jobs and runs those that it has to their end. It hears of that within 2 s: then `state` is ' +
      '`draining`, and `drained` once it runs nothing. It stays so until it is stopped or resumed. For admins without a tenant that are not bound to queues.',
    errors: [400, 404, 409, 413, 415],
    body: { drained: true },
    answers: { 200: { description: 'The worker as it is now.', example: { ok: true, worker: { ...examples.worker, state: 'draining' } } } }
  },
  'GET /v1/audit': {
    id: 'changes.list',
    tag: 'operation',
    summary: 'List who has changed what, the latest first',
    description: 'Decisions about held calls, cancelled and removed jobs, paused queues, switched tools, keys, secrets and sessions, by the console ' +
      'or by the API. For admins that are not bound to queues or namespaces; those of a tenant see the changes of its keys. Arguments, outputs and secrets are never in it.',
    errors: [400],
    answers: { 200: { description: 'The changes.', example: { ok: true, changes: [shownChange], next_cursor: null } } }
  },
  'POST /v1/bulk': {
    id: 'bulk.begin',
    tag: 'operation',
    summary: 'Cancel all jobs that fit a filter, or run them again',
    description: 'The jobs are those that exist now. `cancel` takes what waits or runs, `run_again` what has failed and was not cancelled. ' +
      'It goes on by itself, also where an API process is lost; `GET /v1/bulk/{id}` tells how far it is. Of a tenant 10 may run at a time.',
    errors: [400, 413, 415],
    body: { action: 'cancel', filter: { queue: 'reports', status: 'queued' } },
    answers: { 202: { description: 'It has begun.', example: { ok: true, bulk: examples.bulk } } }
  },
  'GET /v1/bulk': {
    id: 'bulk.list',
    tag: 'operation',
    summary: 'List the last bulk changes, the newest first',
    answers: { 200: { description: 'The changes; 100 of a tenant are kept, for a week.', example: { ok: true, bulks: [examples.bulk], count: 1 } } }
  },
  'GET /v1/bulk/:id': {
    id: 'bulk.read',
    tag: 'operation',
    summary: 'Read how far a bulk change is',
    errors: [404],
    answers: { 200: { description: 'The change.', example: { ok: true, bulk: examples.bulk } } }
  },
  'POST /v1/bulk/:id/stop': {
    id: 'bulk.stop',
    tag: 'operation',
    summary: 'Stop a bulk change',
    description: 'What it has changed stays.',
    errors: [400, 404, 413, 415],
    answers: { 200: { description: 'The change as it is now.', example: { ok: true, bulk: { ...examples.bulk, state: 'stopped', finished_at: examples.bulk.created_at } } } }
  },
  'GET /v1/queues': {
    id: 'queues.list',
    tag: 'operation',
    summary: 'List the queues, with what has not ended in them, and who serves them',
    description: 'For keys without a tenant. A key that is bound to queues sees these alone.',
    answers: { 200: { description: 'The queues.', example: { ok: true, queues: [examples.queue], count: 1 } } }
  },
  'PATCH /v1/queues/:name': {
    id: 'queues.switch',
    tag: 'operation',
    summary: 'Pause a queue, or resume it',
    description: 'Workers take no job of a paused queue; what runs goes on. For keys without a tenant.',
    errors: [400, 404, 413, 415],
    body: { paused: false },
    answers: { 200: { description: 'The queue as it is now.', example: { ok: true, queue: examples.queue } } }
  },
  'GET /v1/stats': {
    id: 'statistics.read',
    tag: 'operation',
    summary: 'Read how many calls ended, how many failed, and how long they waited and ran',
    description: 'By tool, queue and key, over the last minutes; and what each key used of each tool. A key of a tenant reads what is of its tenant. ' +
      'A key that is bound to queues reads what is of these, and nothing by tool and key. Workers send their counts every 5 s.',
    errors: [400],
    query: Type.Object({
      minutes: Type.Optional(Type.Integer({
        minimum: limits.statisticsMinutes.min,
        maximum: limits.statisticsMinutes.max,
        default: limits.statisticsMinutes.default
      })),
      tenant: Type.Optional(Type.String({ pattern: tenantNamePattern, description: 'Calls of this tenant alone.' })),
      tool: Type.Optional(Type.String({ minLength: 1, description: 'The tool that `minutes` is of.' })),
      queue: Type.Optional(Type.String({ minLength: 1, description: 'The queue that `minutes` is of.' })),
      key: Type.Optional(Type.String({ minLength: 1, description: 'The name of the API key that `minutes` is of.' }))
    }),
    answers: { 200: { description: 'The counts.', example: examples.statistics } }
  },
  'GET /v1/registry': {
    id: 'registry.list',
    tag: 'operation',
    summary: 'List the tools for people',
    description: 'Also those that are switched off or can not run. Admin keys without a tenant see files, and what is wrong with the manifests.',
    answers: { 200: { description: 'The tools.', example: { ok: true, tools: [shownTool], count: 1, findings: [] } } }
  },
  'GET /v1/registry/:name': {
    id: 'registry.read',
    tag: 'operation',
    summary: 'Read one tool',
    errors: [404],
    answers: {
      200: {
        description: 'The tool, with its schema and how it came to be.',
        example: {
          ok: true,
          tool: {
            ...shownTool, hosts: [], parameters: { type: 'object' }, timeout_sec: 30, max_attempts: 1, idempotent: false, serial: false, limits: {}, steps: [], findings: []
          }
        }
      }
    }
  }
}
