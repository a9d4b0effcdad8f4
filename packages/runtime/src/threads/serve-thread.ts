import { asError, isRecord } from '@toolyard/contract/terms'
import { parentPort } from 'node:worker_threads'
import type { ThreadAnswer, ThreadWork } from './threads.ts'

/** By the kind of a thread's work. */
type ThreadKinds = Readonly<Record<string, (task: never) => Promise<ThreadAnswer>>>

/** Lets this thread do one piece of work after the other: it may wait for the disk and take its time. */
export function serveThread (kinds: ThreadKinds): void {
  parentPort?.on('message', ({ kind, task }: ThreadWork) => {
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- The kind says which task it is.
    const answering = answer(kinds, kind, task as never)
    void answering.then(({ answer, move }) => { parentPort?.postMessage({ answer }, move ?? []) }, (error: unknown) => {
      const { name, message } = asError(error)
      const { code, details }: Record<string, unknown> = isRecord(error) ? error : {}
      parentPort?.postMessage({ error: { name, message, code, details } })
    })
  })
}

async function answer (kinds: ThreadKinds, kind: string, task: never): Promise<ThreadAnswer> {
  const work = kinds[kind]
  if (work === undefined) throw new Error(`A thread does no work of the kind ${kind}`)
  return await work(task)
}
