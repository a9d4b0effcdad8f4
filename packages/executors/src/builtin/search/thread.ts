import { parentPort, workerData } from 'node:worker_threads'
import type { SearchTask } from './task.ts'

/** The thread of one search: what it does may wait for the disk and take its time. */
const task = workerData as SearchTask
parentPort?.postMessage(await search())

async function search (): Promise<unknown> {
  try {
    if (task.find.kind === 'names') {
      const { searchNames } = await import('./name-search.ts')
      return { answer: searchNames(task, task.find.query) }
    }
    const { searchContents } = await import('./content-search.ts')
    return { answer: searchContents(task, task.find) }
  } catch (error) {
    return { error: (error as Error).message, refused: (error as Error).name.startsWith('RE2JS') }
  }
}
