import type { AppControllerRoute, BullBoardRequest, ControllerHandlerReturnType } from '@bull-board/api/typings/app'
import { BoardQueue } from './board-queue.ts'
import type { BoardRequest } from './board-parts.ts'
import { shownFlow } from './shown-flow.ts'

type Handle = (request: BullBoardRequest) => Promise<ControllerHandlerReturnType> | ControllerHandlerReturnType

/** The changes that an operator may make; what each does and refuses is in `BoardQueue`. Reading is always offered. */
const offered = new Set([
  'put /api/queues/pause',
  'put /api/queues/resume',
  'put /api/queues/:queueName/pause',
  'put /api/queues/:queueName/resume',
  'put /api/queues/:queueName/retry/:queueStatus',
  'put /api/queues/:queueName/clean/:queueStatus',
  'put /api/queues/:queueName/:jobId/retry',
  'put /api/queues/:queueName/:jobId/retry/:queueStatus',
  'put /api/queues/:queueName/:jobId/promote',
  'put /api/queues/:queueName/:jobId/clean'
])

/** Why bull-board's other changes aren't offered; the last one is for those that have no words of their own. */
const refusals: ReadonlyArray<readonly [pattern: RegExp, reason: string]> = [
  [/\/add$/, 'Jobs are submitted over the API, where they are checked.'],
  [/\/empty$/, 'Jobs that wait are not thrown away, because somebody waits for their answers: cancel them over the API.'],
  [/\/obliterate$/, 'A queue is not deleted with its jobs, because somebody waits for their answers.'],
  [/\/promote$/, 'Delayed jobs are promoted one by one.'],
  [/\/(update-data|delay|priority)$/, 'A job is what was submitted: cancel it, and submit another one.'],
  [/\/(concurrency|rate-limit|release)$/, 'WORKER_CONCURRENCY says how many calls of a queue run at once.'],
  [/(?:)/, 'The dashboard of Toolyard does not offer this.']
]

/** Jobs in one answer. */
const maxJobsPerPage = 50

/** A route of bull-board that fits a request. */
export interface FoundRoute {
  params: Record<string, string>
  handle: Handle
  /** Why it isn't offered. */
  refused?: string
}

/** Finds the route for a request; undefined when there is none. */
export function findRoute (routes: readonly AppControllerRoute[], request: BoardRequest): FoundRoute | undefined {
  const method = request.method.toLowerCase()
  for (const definition of routes) {
    const { route, method: methods } = definition
    if (![methods].flat().some(each => each === method)) continue
    for (const pattern of [route].flat()) {
      const params = match(pattern, `/api${request.path}`)
      if (params === undefined) continue
      const name = `${method} ${pattern}`
      const handle = own[name] ??
        (async asked => ofAll.has(name) && isReadOnly(asked) ? readOnly : shown(name, await definition.handler(asked), asked))
      const refused = method === 'get' || offered.has(name) ? undefined : refusals.find(([words]) => words.test(pattern))?.[1]
      return { params, handle: bounded(handle), ...(refused === undefined ? {} : { refused }) }
    }
  }
  return undefined
}

/** bull-board shows all of a flow, whatever its viewer may see. */
function shown (name: string, answer: ControllerHandlerReturnType, { queues }: BullBoardRequest): ControllerHandlerReturnType {
  return name === 'get /api/queues/:queueName/:jobId/flow' ? shownFlow(answer, queues) : answer
}

/** Changes of all queues. bull-board leaves out queues that are read-only, and doesn't say so. */
const ofAll = new Set(['put /api/queues/pause', 'put /api/queues/resume'])
const readOnly = { status: 405, body: { error: { key: 'ERRORS.QUEUE_READ_ONLY' } } } as const

function isReadOnly ({ queues }: BullBoardRequest): boolean {
  return queues.size > 0 && [...queues.values()].every(queue => queue.readOnlyMode)
}

/** bull-board runs jobs again page by page, and stumbles over those that can't be. */
const own: Readonly<Record<string, Handle>> = {
  'put /api/queues/:queueName/retry/:queueStatus': async ({ queues, params }) => {
    const queue = queues.get(String(params['queueName']))
    if (!(queue instanceof BoardQueue)) return { status: 404, body: { error: { key: 'ERRORS.QUEUE_NOT_FOUND' } } }
    if (queue.readOnlyMode) return readOnly
    if (params['queueStatus'] !== 'failed') return { status: 400, body: { error: { key: 'ERRORS.STATUS_NOT_RETRIABLE', options: { status: String(params['queueStatus']) } } } }
    return { status: 200, body: await queue.retryFailed() }
  }
}

function bounded (handle: Handle): Handle {
  return request => {
    const { jobsPerPage } = request.query as { jobsPerPage?: unknown }
    const query = Number(jobsPerPage) > maxJobsPerPage ? { ...request.query, jobsPerPage: String(maxJobsPerPage) } : request.query
    return handle({ ...request, query })
  }
}

/** Matches a path, segment by segment, with a pattern such as `/api/queues/:queueName`. */
function match (pattern: string, path: string): Record<string, string> | undefined {
  const wanted = pattern.split('/')
  const given = path.split('/')
  if (wanted.length !== given.length) return undefined
  const params: Record<string, string> = {}
  for (const [index, part] of wanted.entries()) {
    const text = given[index] ?? ''
    if (part.startsWith(':')) {
      const value = decode(text)
      if (value === undefined || value === '') return undefined
      params[part.slice(1)] = value
    } else if (part !== text) return undefined
  }
  return params
}

function decode (text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
