import { isEnd } from '@toolyard/contract/terms'
import { pathSegment, type JobView, type LogEntry, type Progress } from '@toolyard/client'
import { useEffect, useState } from 'preact/hooks'
import { asError } from '../access/load.ts'
import { useAccess } from '../access/context.ts'

export interface Followed {
  job: JobView | undefined
  /** The last lines of its log. */
  log: readonly LogEntry[]
  error: Error | undefined
}

/** The end of a log that is shown. */
const most = { lines: 2_000, chars: 500_000 }
/** How often new lines are drawn, and a job is read that can't be followed, in milliseconds. */
const drawMs = 100
const everyMs = 2_000

/** Follows a job to its end: by its event stream, or by asking again where the key may not open streams. */
export function useJob (id: string): Followed {
  const { api, person } = useAccess()
  const [followed, setFollowed] = useState<Followed>({ job: undefined, log: [], error: undefined })

  useEffect(() => {
    const ending = new AbortController()
    const { signal } = ending
    const path = `/v1/jobs/${pathSegment(id)}`
    let fresh: LogEntry[] = []
    setFollowed({ job: undefined, log: [], error: undefined })
    const drawing = setInterval(draw, drawMs)

    function draw (): void {
      if (fresh.length === 0) return
      const lines = fresh
      fresh = []
      setFollowed(known => ({ ...known, log: lastOf([...known.log, ...lines]) }))
    }
    function show (job: JobView): void {
      setFollowed(known => ({ ...known, job, error: undefined }))
    }
    function showProgress (progress: Progress): void {
      setFollowed(known => known.job === undefined ? known : { ...known, job: { ...known.job, progress } })
    }
    async function stream (): Promise<void> {
      for await (const event of api.toolyard.follow(id, { signal })) {
        if (event.type === 'log') fresh.push(event.entry)
        else if (event.type === 'progress') showProgress(event.progress)
        else show(event.job)
      }
    }
    async function poll (): Promise<void> {
      for (;;) {
        const { job } = await api.ask<{ job: JobView }>(path, { signal })
        const { logs } = await api.ask<{ logs: LogEntry[] }>(`${path}/logs?tail=${most.lines}`, { signal })
        setFollowed({ job, log: lastOf(logs), error: undefined })
        if (isEnd(job.status)) return
        await new Promise(resolve => { setTimeout(resolve, everyMs) })
      }
    }
    (person.sse ? stream() : poll()).then(draw, (error: unknown) => {
      draw()
      if (!signal.aborted) setFollowed(known => ({ ...known, error: asError(error) }))
    })
    return () => { ending.abort(); clearInterval(drawing) }
  }, [api, id, person.sse])

  return followed
}

/** The last lines, as many as can be drawn in a moment. */
function lastOf (lines: readonly LogEntry[]): LogEntry[] {
  let chars = 0
  const last = lines.slice(-most.lines)
  const begin = last.findLastIndex(({ message }) => (chars += message.length) > most.chars)
  return last.slice(begin + 1)
}
