import { isEnd, orElse } from '@toolyard/contract/terms'
import type { JobSummary } from '@toolyard/client'

/** When a job waited and when it ran, in parts of a time that several jobs share: 0 is its beginning, 1 its end. */
interface Bar {
  waitedFrom: number
  ranFrom: number
  to: number
}

/** When a job waited and ran, as far as it is known. */
export type Course = Pick<JobSummary, 'status' | 'created_at' | 'due_at' | 'started_at' | 'finished_at'>

/** The bars of jobs that were made together, and how long all of them took, in milliseconds. */
export function barsOf (jobs: readonly Course[], now: number): { bars: Bar[], totalMs: number } {
  const spans = jobs.map(({ status, created_at: created, due_at: due, started_at: started, finished_at: finished }) => {
    const from = Date.parse(due ?? created)
    const to = Math.max(from, isEnd(status) ? Date.parse(finished ?? started ?? created) : now)
    return { from, started: Math.min(to, Math.max(from, started === null ? to : Date.parse(started))), to }
  })
  const first = Math.min(...spans.map(({ from }) => from))
  const totalMs = Math.max(1, ...spans.map(({ to }) => to - first))
  const part = (at: number): number => (at - first) / totalMs
  return { bars: spans.map(({ from, started, to }) => ({ waitedFrom: part(from), ranFrom: part(started), to: part(to) })), totalMs }
}

/** A program's last words are most often why it failed; of an object with an `error`, as tools report one, this. */
export function lastLine (text: string): string {
  const line = text.trimEnd().split('\n').at(-1)?.trim() ?? ''
  const [, error] = /^\{"error":("(?:[^"\\]|\\.)*")[,}]/.exec(line) ?? []
  return orElse(() => error === undefined ? line : String(JSON.parse(error)), line)
}
