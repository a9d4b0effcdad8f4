import { serveThread } from '@toolyard/runtime/threads'
import type { SearchTask } from './builtin/search/walk/task.ts'
import type { ChangeTask } from './builtin/file/change-task.ts'
import type { PageTask, ResultsTask } from './builtin/web/web-task.ts'
import type { MessageTask } from './mcp/wire/message.ts'
import type { OutputTask } from './result/output-task.ts'
import type { SubstitutionTask } from './builtin/workflow/substitution-task.ts'

/** Each kind of work loads what it needs when it is first asked for. */
serveThread({
  search: async (task: SearchTask) => (await import('./builtin/search/run-search.ts')).runSearch(task),
  change: async (task: ChangeTask) => (await import('./builtin/file/change-task.ts')).runChangeTask(task),
  page: async (task: PageTask) => (await import('./builtin/web/web-task.ts')).runPageTask(task),
  results: async (task: ResultsTask) => (await import('./builtin/web/web-task.ts')).runResultsTask(task),
  message: async (task: MessageTask) => (await import('./mcp/wire/message.ts')).runMessageTask(task),
  output: async (task: OutputTask) => (await import('./result/output-task.ts')).runOutputTask(task),
  substitution: async (task: SubstitutionTask) => (await import('./builtin/workflow/substitution-task.ts')).runSubstitutionTask(task)
})
