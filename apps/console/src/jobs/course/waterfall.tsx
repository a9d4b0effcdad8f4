import type { JobState } from '@toolyard/client'
import type { VNode } from 'preact'
import { useNow } from '../../parts/time.tsx'
import { hrefOf } from '../../parts/route.ts'
import { Status } from '../../parts/status.tsx'
import { duration } from '../../parts/times.ts'
import { barsOf, type Course } from './terms.ts'

/** One line: something that waits, then runs. */
export interface Lane {
  /** Of its job; undefined before there is one. */
  id: string | undefined
  name: string
  status: JobState | 'waiting'
  /** Undefined before there is a job. */
  course: Course | undefined
  took: VNode | string
}

/** Lanes one below the other: when each waited, when it ran, and what came of it. */
export function Waterfall ({ lanes, title }: { lanes: readonly Lane[], title: (took: string) => string }): VNode | null {
  const now = useNow()
  const courses = lanes.flatMap(({ course }) => course ?? [])
  const { bars, totalMs } = barsOf(courses, now)
  if (courses.length === 0) return null
  const percent = (part: number): string => `${(100 * part).toFixed(2)}%`
  return (
    <section class='card waterfall'>
      <h2>{title(duration(totalMs))}</h2>
      <ol>
        {lanes.map(({ id, name, status, course, took }) => {
          const bar = course === undefined ? undefined : bars[courses.indexOf(course)]
          return (
            <li key={name + String(id)}>
              <span class='name' title={name}>{id === undefined ? name : <><a href={hrefOf(['jobs', id])}>{name}</a> <code class='id'>{id.slice(-8)}</code></>}</span>
              <span class='track' aria-hidden='true'>
                {bar !== undefined && <span class='waits' style={{ left: percent(bar.waitedFrom), width: percent(bar.ranFrom - bar.waitedFrom) }} />}
                {bar !== undefined && <span class={`runs ${status}`} style={{ left: percent(bar.ranFrom), width: percent(bar.to - bar.ranFrom) }} />}
              </span>
              <span class='took'>{took}</span>
              <Status status={status} />
            </li>
          )
        })}
      </ol>
      <p class='soft small'>The grey part of a bar is how long it waited, the coloured one how long it ran.</p>
    </section>
  )
}
