import { serveThread } from '@toolyard/runtime/threads'
import type { ReadTask } from './read-output.ts'
import type { SearchTask } from './search-output.ts'

/** Each kind of work loads what it needs when it is first asked for. */
serveThread({
  read: async (task: ReadTask) => ({ answer: (await import('./read-output.ts')).readOutput(task) }),
  search: async (task: SearchTask) => ({ answer: (await import('./search-output.ts')).searchOutput(task) })
})
