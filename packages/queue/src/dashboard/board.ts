import { createBullBoard } from '@bull-board/api'
import { whileAvailable } from '@toolyard/store'
import type { QueueDirectory } from '../queues/queue-directory.ts'
import { isEmpty } from '../upkeep/empty-queues.ts'
import { BoardQueue, type BoardParts } from './board-queue.ts'

const uiConfig = { boardTitle: 'Toolyard', hideDocsLink: true, showMetrics: false, locale: { lng: 'en-US' }, pollingInterval: { showSetting: true } }

/**
 * Sets bull-board up for what serves it.
 *
 * @param home where its pages lead back to
 * @returns what finds the queues that have a job or are paused, as they are in Redis now; throws RedisUnavailableError.
 */
export function createBoard (
  serverAdapter: Parameters<typeof createBullBoard>[0]['serverAdapter'], directory: QueueDirectory, parts: BoardParts & { home: string }
): () => Promise<void> {
  const { replaceQueues } = createBullBoard({ queues: [], serverAdapter, options: { uiConfig: { ...uiConfig, miscLinks: [{ text: 'Back to the console', url: parts.home }] } } })
  return async () => {
    const known = await directory.list()
    const empty = await whileAvailable(Promise.all(known.map(queue => isEmpty(parts.redis, queue))))
    replaceQueues(known.filter((_queue, index) => empty[index] === false).map(name => new BoardQueue(name, parts)))
  }
}
