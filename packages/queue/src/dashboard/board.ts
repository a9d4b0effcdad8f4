import type { createBullBoard } from '@bull-board/api'
import type { AppControllerRoute, BullBoardQueues, UIConfig } from '@bull-board/api/typings/app'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { RefusedAction, type BoardAnswer, type BoardParts, type BoardRequest, type Viewer } from './board-parts.ts'
import { BoardQueue, type FlowProducers } from './board-queue.ts'
import { pageTemplate, type PageTemplate } from './page-template.ts'
import { findRoute } from './routes.ts'
import { isEmpty } from '../upkeep/empty-queues.ts'
import { whileAvailable } from '@toolyard/store'

const require = createRequire(import.meta.url)

/** bull-board over the queues of Toolyard, for any HTTP server. It keeps nothing in memory but its own pages. */
export interface QueueBoard {
  /** Directory of the files that the page loads from `static/`. */
  staticDir: string
  /** The page, for a browser that sees the board at `basePath`, which ends in `/`. */
  page: (basePath: string) => string
  /**
   * Answers a request of the page; what isn't offered is refused with 403, what isn't known with 404.
   *
   * @throws RedisUnavailableError
   */
  answer: (request: BoardRequest, viewer: Viewer) => Promise<BoardAnswer>
}

/** Loads bull-board, and sets it up: each in a turn of the event loop of its own. */
export async function openQueueBoard (
  parts: BoardParts, config: { title: string, links: ReadonlyArray<{ text: string, url: string }> }
): Promise<QueueBoard> {
  await setImmediate()
  // It takes half the time of an import.
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- `require` knows no types.
  const { createBullBoard: create } = require('@bull-board/api') as { createBullBoard: typeof createBullBoard }
  await setImmediate()
  const uiDir = dirname(require.resolve('@bull-board/ui/package.json'))
  const { routes, uiConfig } = collect(create, uiDir, {
    boardTitle: config.title,
    miscLinks: [...config.links],
    hideDocsLink: true,
    showMetrics: false,
    locale: { lng: 'en-US' },
    pollingInterval: { showSetting: true }
  })
  const template: PageTemplate = pageTemplate(readFileSync(join(uiDir, 'dist/index.ejs'), 'utf8'), uiConfig)
  const flows: FlowProducers = new WeakMap()

  return {
    staticDir: join(uiDir, 'dist/static'),
    page: template,
    answer: async (request, viewer) => {
      const found = findRoute(routes, request)
      if (found === undefined) return refusal(404, 'Not found', 'The dashboard has no such address.')
      if (found.refused !== undefined) return refusal(403, 'Not offered here', found.refused)
      const names = await shownQueues(parts, viewer.queueAllowlist)
      const queues: BullBoardQueues = new Map(names.map(name => [name, new BoardQueue(name, parts, viewer, flows)]))
      try {
        const { status = 200, body } = await found.handle({
          queues, uiConfig, query: request.query, params: found.params, body: request.body ?? {}, headers: {}
        })
        return { status, body }
      } catch (error) {
        if (error instanceof RefusedAction) return refusal(409, 'Not done', error.message)
        throw error
      }
    }
  }
}

/** The queues that have a job or are paused, as they are in Redis now; `allowed` are the only ones to be shown, undefined means all. */
async function shownQueues ({ redis, directory }: BoardParts, allowed: readonly string[] | undefined): Promise<string[]> {
  const known = (await directory.list()).filter(queue => allowed?.includes(queue) ?? true)
  const empty = await whileAvailable(Promise.all(known.map(queue => isEmpty(redis, queue))))
  return known.filter((_queue, index) => empty[index] === false)
}

/** bull-board hands its routes to whoever serves them. */
function collect (create: typeof createBullBoard, uiDir: string, wanted: UIConfig): { routes: AppControllerRoute[], uiConfig: UIConfig } {
  let routes: AppControllerRoute[] = []
  let uiConfig: UIConfig = {}
  const server: Parameters<typeof createBullBoard>[0]['serverAdapter'] = {
    setQueues: () => server,
    setViewsPath: () => server,
    setStaticPath: () => server,
    setEntryRoute: () => server,
    setErrorHandler: () => server,
    setApiRoutes: all => { routes = all; return server },
    setUIConfig: config => { uiConfig = config; return server }
  }
  create({ queues: [], serverAdapter: server, options: { uiBasePath: uiDir, uiConfig: wanted } })
  return { routes, uiConfig }
}

/** In the form that the page shows to its reader. */
function refusal (status: number, error: string, message: string): BoardAnswer {
  return { status, body: { error, message } }
}
