import { asError, isRecord } from '@toolyard/contract/terms'
import { parentPort } from 'node:worker_threads'
import type { SearchTask } from './builtin/search/walk/task.ts'
import type { ChangeTask } from './builtin/file/change-task.ts'
import type { PageTask, ResultsTask } from './builtin/web/web-task.ts'
import type { MessageTask } from './mcp/message.ts'
import type { OutputTask } from './result/output-task.ts'
import type { SubstitutionTask } from './builtin/workflow/substitution-task.ts'
import type { ThreadAnswer, ThreadWork } from './run/threads.ts'

/** What a thread does for the worker, by the kind of its work; what it needs is loaded with the first of that kind. */
const kinds: Readonly<Record<string, (task: never) => Promise<ThreadAnswer>>> = {
  search: async (task: SearchTask) => (await import('./builtin/search/run-search.ts')).runSearch(task),
  change: async (task: ChangeTask) => (await import('./builtin/file/change-task.ts')).runChangeTask(task),
  page: async (task: PageTask) => (await import('./builtin/web/web-task.ts')).runPageTask(task),
  results: async (task: ResultsTask) => (await import('./builtin/web/web-task.ts')).runResultsTask(task),
  message: async (task: MessageTask) => (await import('./mcp/message.ts')).runMessageTask(task),
  output: async (task: OutputTask) => (await import('./result/output-task.ts')).runOutputTask(task),
  substitution: async (task: SubstitutionTask) => (await import('./builtin/workflow/substitution-task.ts')).runSubstitutionTask(task)
}

/** A thread does one piece of work after the other: it may wait for the disk and take its time. */
parentPort?.on('message', ({ kind, task }: ThreadWork) => {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- The kind says which task it is.
  void answer(kind, task as never).then(({ answer, move }) => { parentPort?.postMessage({ answer }, move ?? []) }, (error: unknown) => {
    const { name, message } = asError(error)
    const { code, details }: Record<string, unknown> = isRecord(error) ? error : {}
    parentPort?.postMessage({ error: { name, message, code, details } })
  })
})

async function answer (kind: string, task: never): Promise<ThreadAnswer> {
  const work = kinds[kind]
  if (work === undefined) throw new Error(`A thread does no work of the kind ${kind}`)
  return await work(task)
}
