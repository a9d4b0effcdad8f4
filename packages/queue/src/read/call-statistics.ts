import type { Statistics, StatisticsEntry, StatisticsQuery, UsageEntry } from '@toolyard/contract'
import { mapInTurns, OwnerTurns } from '@toolyard/runtime'
import {
  type JobScope, type Redis, statisticsKey, serverTime, whileAvailable, readSeries, readUsageName, seriesName, type Series, quantile,
  Tally, type Histogram, isNumbers, readStored, readTally
} from '@toolyard/store'
import { isoTime } from '../record/job-times.ts'
import { listPatienceMs, nobody, type Asker } from './job-lister.ts'

const minuteMs = 60_000
/** For more minutes than this, whole hours are read. */
const mostMinutes = 120
/** Parts that are asked for at once; hours of usage have a hundred kilobytes each. */
const [chunkSize, usagesAtOnce] = [60, 4]
/** Requests at once: each reads megabytes, behind which others wait. */
const mostReaders = 1

interface StatisticsRequest extends StatisticsQuery {
  scope: JobScope
}

export class CallStatistics {
  readonly #redis: Redis
  readonly #turns = new OwnerTurns(mostReaders)

  constructor (redis: Redis) {
    this.#redis = redis
  }

  /** Owners take turns. @throws TurnMissedError; RedisUnavailableError */
  async read (request: StatisticsRequest, { owner, signal }: Asker = nobody): Promise<Statistics> {
    const patience = { ms: listPatienceMs, ...signal !== undefined && { signal } }
    return await this.#turns.run(owner, async () => await this.#read(request), patience)
  }

  async #read ({ minutes, of, tenant: asked, scope }: StatisticsRequest): Promise<Statistics> {
    const now = serverTime(this.#redis)
    const last = Math.floor(now / minuteMs)
    const isLong = minutes > mostMinutes
    const first = isLong ? 60 * Math.floor((last + 1 - minutes) / 60) : last + 1 - minutes
    const span = { from: isoTime(first * minuteMs), to: isoTime(now) }
    const elapsed = (now - first * minuteMs) / minuteMs
    const none = new Tally()
    if (asked !== undefined && scope.tenant !== undefined && asked !== scope.tenant) {
      return { ok: true, ...span, total: countsOf(none, elapsed), tools: [], queues: [], keys: [], minutes: [], usage: [] }
    }
    const tenant = scope.tenant ?? asked
    const hours = range(Math.floor(first / 60), Math.floor(last / 60))
    const tallies = await this.#tallies(
      isLong ? hours.map(hour => statisticsKey('hour', hour)) : range(first, last).map(minute => statisticsKey('minute', minute)), tenant
    )
    // A key that is bound to queues sees only the jobs of these.
    const whole: Series[] = scope.queues?.map(name => ({ tenant, dimension: 'queue', name })) ?? [{ tenant, dimension: 'total', name: '' }]
    const total = new Tally()
    for (const series of whole) total.add((tallies.get(seriesName(series)) ?? none).record)
    const entries = (dimension: Series['dimension']): StatisticsEntry[] => entriesOf(tallies, dimension, elapsed)
    const isBound = scope.queues !== undefined
    return {
      ok: true,
      ...span,
      total: countsOf(total, elapsed),
      tools: isBound ? [] : entries('tool'),
      queues: entries('queue').filter(({ name }) => name === null ? !isBound : scope.queues?.includes(name) ?? true),
      keys: isBound ? [] : entries('key'),
      minutes: await this.#minutes(range(first, last), of === undefined ? whole : [{ tenant, ...of }]),
      ...of === undefined && tenant === undefined && !isBound && { jobs: await this.#jobs(hours, first) },
      usage: isBound ? [] : await this.#usage(hours, tenant)
    }
  }

  /** The counts of each series of all jobs, or of a tenant, over these parts. */
  async #tallies (parts: readonly string[], tenant: string | undefined): Promise<Map<string, Tally>> {
    const tallies = new Map<string, Tally>()
    await this.#each(parts, key => this.#redis.hgetall(key), (_key, counts) => {
      for (const [name, text] of Object.entries(counts)) {
        if (readSeries(name).tenant !== tenant) continue
        const tally = tallies.get(name) ?? new Tally()
        tallies.set(name, tally)
        tally.add(readTally(text))
      }
    })
    return tallies
  }

  async #minutes (minutes: readonly number[], series: readonly Series[]): Promise<Statistics['minutes']> {
    const names = series.map(seriesName)
    const found: Statistics['minutes'] = []
    if (names.length === 0) return found
    await this.#each(minutes, minute => this.#redis.hmget(statisticsKey('minute', minute), ...names), (minute, texts) => {
      const tally = new Tally()
      for (const text of texts) if (text !== null) tally.add(readTally(text))
      if (tally.calls > 0) found.push({ at: isoTime(minute * minuteMs), ...plainCountsOf(tally) })
    })
    return found
  }

  /** How many jobs ran and waited in each minute that somebody has looked at. */
  async #jobs (hours: readonly number[], first: number): Promise<NonNullable<Statistics['jobs']>> {
    const found: Array<[minute: number, running: number, waiting: number]> = []
    await this.#each(hours, hour => this.#redis.hgetall(statisticsKey('jobs', hour)), (_hour, counts) => {
      for (const [minute, text] of Object.entries(counts)) {
        const [running = 0, waiting = 0] = readStored('the jobs of a minute', text, isNumbers)
        if (Number(minute) >= first) found.push([Number(minute), running, waiting])
      }
    })
    return found.sort(([a], [b]) => a - b).map(([minute, running, waiting]) => ({ at: isoTime(minute * minuteMs), running, waiting }))
  }

  async #usage (hours: readonly number[], tenant: string | undefined): Promise<UsageEntry[]> {
    const used = new Map<string, [number, number, number]>()
    const processorMs = new Map<string, number>()
    const readHour = async (hour: number): Promise<Array<Record<string, string>>> => await Promise.all([
      this.#redis.hgetall(statisticsKey('usage', hour)), this.#redis.hgetall(statisticsKey('processor', hour))
    ])
    await this.#each(hours, readHour, (_hour, [usages = {}, processors = {}]) => {
      for (const [name, text] of Object.entries(usages)) {
        const [calls = 0, ranMs = 0, bytes = 0] = readStored('a usage', text, isNumbers)
        const sum = used.get(name) ?? [0, 0, 0]
        used.set(name, [sum[0] + calls, sum[1] + ranMs, sum[2] + bytes])
      }
      for (const [name, text] of Object.entries(processors)) {
        const [ms = 0] = readStored('the processor time of a usage', text, isNumbers)
        processorMs.set(name, (processorMs.get(name) ?? 0) + ms)
      }
    }, usagesAtOnce)
    return [...used].flatMap(([name, [calls, ranMs, bytes]]) => {
      const { tenant: owner, keyName, tool } = readUsageName(name)
      if (tenant !== undefined && owner !== tenant) return []
      return [{
        tool: tool === '' ? null : tool,
        key: keyName === '' ? null : keyName,
        ...(owner === undefined ? {} : { tenant: owner }),
        calls,
        seconds: ranMs / 1_000,
        processor_seconds: (processorMs.get(name) ?? 0) / 1_000,
        output_bytes: bytes
      }]
    }).sort((a, b) => b.seconds - a.seconds)
  }

  /** Reads parts, some at a time, and lets others have their turn in between. */
  async #each<Part, Found> (
    parts: readonly Part[], read: (part: Part) => Promise<Found>, add: (part: Part, found: Found) => void, atOnce = chunkSize
  ): Promise<void> {
    for (let start = 0; start < parts.length; start += atOnce) {
      const chunk = parts.slice(start, start + atOnce)
      const found = await whileAvailable(Promise.all(chunk.map(async part => [part, await read(part)] as const)))
      await mapInTurns(found, ([part, piece]) => { add(part, piece) })
    }
  }
}

function entriesOf (tallies: ReadonlyMap<string, Tally>, dimension: Series['dimension'], minutes: number): StatisticsEntry[] {
  return [...tallies]
    .map(([text, tally]) => ({ series: readSeries(text), tally }))
    .filter(({ series }) => series.dimension === dimension)
    .sort((a, b) => b.tally.calls - a.tally.calls)
    .map(({ series: { name }, tally }) => ({ name: name === '' ? null : name, ...countsOf(tally, minutes) }))
}

function countsOf (tally: Tally, minutes: number): Statistics['total'] {
  return {
    ...plainCountsOf(tally),
    error_rate: tally.calls === 0 ? null : rounded(tally.errors / tally.calls),
    calls_per_minute: rounded(tally.calls / minutes)
  }
}

function plainCountsOf ({ calls, errors, cancelled, waits, runs }: Tally): Omit<Statistics['minutes'][number], 'at'> {
  return { calls, errors, cancelled, waiting_ms: quantilesOf(waits), running_ms: quantilesOf(runs) }
}

function quantilesOf (histogram: Histogram): { p50: number | null, p95: number | null } {
  return { p50: quantile(histogram, 0.5) ?? null, p95: quantile(histogram, 0.95) ?? null }
}

function rounded (number: number): number {
  return Math.round(number * 10_000) / 10_000
}

function range (from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, place) => from + place)
}
