import { isRecord } from '@toolyard/contract/terms'
import { isNumbers, readStored } from '../redis/stored.ts'

/** How many durations were in which bucket, by the bucket's number. */
export type Histogram = Record<string, number>

/** Counts of one series in one span of time; it is stored as JSON, in this order. */
type TallyRecord = [calls: number, errors: number, cancelled: number, ranMs: number, waits: Histogram, runs: Histogram]

/** Each bucket goes up to 41 % more than the one before: a quantile is off by a fifth at most. */
const bucketsPerDoubling = 2
/** A job may wait for a week. */
const lastBucket = 60

export function readTally (text: string): TallyRecord {
  return readStored('the counts of calls', text, isTally)
}

function isTally (value: unknown): value is TallyRecord {
  if (!Array.isArray(value) || value.length !== 6 || !isNumbers(value.slice(0, 4))) return false
  return value.slice(4).every(counts => isRecord(counts) && isNumbers(Object.values(counts)))
}

function bucketOf (ms: number): number {
  return ms <= 1 ? 0 : Math.min(lastBucket, Math.ceil(bucketsPerDoubling * Math.log2(ms)))
}

export class Tally {
  calls = 0
  errors = 0
  cancelled = 0
  ranMs = 0
  readonly waits: Histogram = {}
  readonly runs: Histogram = {}

  /** Counts one call that has ended; `waitedMs` is undefined where that isn't known. */
  count (state: 'succeeded' | 'failed' | 'cancelled', ranMs: number, waitedMs: number | undefined): void {
    this.calls += 1
    if (state === 'failed') this.errors += 1
    if (state === 'cancelled') this.cancelled += 1
    this.ranMs += Math.round(ranMs)
    addTo(this.runs, bucketOf(ranMs), 1)
    if (waitedMs !== undefined) addTo(this.waits, bucketOf(waitedMs), 1)
  }

  add ([calls, errors, cancelled, ranMs, waits, runs]: TallyRecord): void {
    this.calls += calls
    this.errors += errors
    this.cancelled += cancelled
    this.ranMs += ranMs
    for (const [bucket, count] of Object.entries(waits)) addTo(this.waits, bucket, count)
    for (const [bucket, count] of Object.entries(runs)) addTo(this.runs, bucket, count)
  }

  get record (): TallyRecord {
    return [this.calls, this.errors, this.cancelled, this.ranMs, this.waits, this.runs]
  }
}

/** The duration that this share of all stays below, in milliseconds; undefined where there is none. */
export function quantile (histogram: Histogram, share: number): number | undefined {
  const buckets = Object.entries(histogram).map(([bucket, count]) => [Number(bucket), count] as const).sort(([a], [b]) => a - b)
  const wanted = share * buckets.reduce((sum, [, count]) => sum + count, 0)
  let seen = 0
  for (const [bucket, count] of buckets) {
    seen += count
    if (seen >= wanted) return middleOf(bucket)
  }
  return undefined
}

function middleOf (bucket: number): number {
  const ms = bucket === 0 ? 1 : 2 ** ((bucket - 0.5) / bucketsPerDoubling)
  return ms < 10 ? Math.round(10 * ms) / 10 : Math.round(ms)
}

function addTo (histogram: Histogram, bucket: number | string, count: number): void {
  histogram[bucket] = (histogram[bucket] ?? 0) + count
}
