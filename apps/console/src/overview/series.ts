import type { Statistics } from '@toolyard/contract'

/** Columns of a chart: seconds since 1970 first, then what each line has then; null where it has nothing. */
export type Columns = [times: number[], ...lines: Array<Array<number | null>>]

const minuteMs = 60_000

/** The minutes of a span in which nothing ended are zeros of counts, and gaps of times. */
export function columnsOf ({ from, to, minutes }: Pick<Statistics, 'from' | 'to' | 'minutes'>): { calls: Columns, waiting: Columns, running: Columns } {
  const known = new Map(minutes.map(minute => [Date.parse(minute.at), minute]))
  const first = Math.floor(Date.parse(from) / minuteMs) * minuteMs
  const calls: Columns = [[], [], []]
  const waiting: Columns = [[], [], []]
  const running: Columns = [[], [], []]
  for (let at = first; at <= Date.parse(to); at += minuteMs) {
    const minute = known.get(at)
    add(calls, at, [minute?.calls ?? 0, minute?.errors ?? 0])
    add(waiting, at, [minute?.waiting_ms.p50 ?? null, minute?.waiting_ms.p95 ?? null])
    add(running, at, [minute?.running_ms.p50 ?? null, minute?.running_ms.p95 ?? null])
  }
  return { calls, waiting, running }
}

function add ([times, ...lines]: Columns, at: number, values: ReadonlyArray<number | null>): void {
  times.push(at / 1_000)
  for (const [place, value] of values.entries()) lines[place]?.push(value)
}

/** Adds to a list of so many readings: the oldest go. */
export function withReading (readings: Columns, at: number, values: readonly number[], most: number): Columns {
  const [times, ...lines] = readings
  return [[...times, at].slice(-most), ...lines.map((line, place) => [...line, values[place] ?? null].slice(-most))]
}

/**
 * Jobs that ran and waited: by the minute, as the service has counted it, up to the first reading of the page; then the readings.
 * Minutes that nobody counted are gaps. It begins at `from`, whatever is known.
 */
export function withHistory (readings: Columns, { from, jobs = [] }: Pick<Statistics, 'from' | 'jobs'>): Columns {
  const [times, ...lines] = readings
  const known = new Map(jobs.map(minute => [Date.parse(minute.at), minute]))
  const first = Math.floor(Date.parse(from) / minuteMs) * minuteMs
  const until = Math.min(times[0] === undefined ? Infinity : times[0] * 1_000, Math.max(first, ...known.keys()) + 1)
  const history: Columns = [[], [], []]
  for (let at = first; at < until; at += minuteMs) {
    const minute = known.get(at)
    add(history, at, [minute?.running ?? null, minute?.waiting ?? null])
  }
  const [before, ...past] = history
  return [[...before, ...times], ...past.map((line, place) => [...line, ...lines[place] ?? []])]
}
