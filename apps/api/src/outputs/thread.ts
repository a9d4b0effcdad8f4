import { serveThread } from '@toolyard/runtime/threads'
import type { ReadTask } from './read-output.ts'
import type { SearchTask } from './search-output.ts'

/** What a thread does for the API, by the kind of its work; what it needs is loaded with the first of that kind. */
serveThread({
  read: async (task: ReadTask) => ({ answer: (await import('./read-output.ts')).readOutput(task) }),
  search: async (task: SearchTask) => ({ answer: (await import('./search-output.ts')).searchOutput(task) })
})
