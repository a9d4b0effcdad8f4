import { examples } from './examples.ts'
import type { RouteDescription } from './route-description.ts'

/** What the document says of the routes for operators, by method and path. */
export const operationDescriptions: Readonly<Record<string, RouteDescription>> = {
  'GET /v1/workers': {
    id: 'workers.list',
    tag: 'operation',
    summary: 'List the workers that are alive',
    description: 'For keys without a tenant. A key that is bound to queues sees the names of these alone. A worker is gone 5 s after it died.',
    answers: { 200: { description: 'The workers.', example: { ok: true, workers: [examples.worker], count: 1 } } }
  }
}
