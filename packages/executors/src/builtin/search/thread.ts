import { parentPort } from 'node:worker_threads'
import type { SearchTask } from './task.ts'

/** A thread that does one search after the other: what it does may wait for the disk and take its time. */
parentPort?.on('message', (task: SearchTask) => {
  void search(task).then(message => { parentPort?.postMessage(message) })
})

async function search (task: SearchTask): Promise<unknown> {
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
