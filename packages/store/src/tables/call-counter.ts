import type { Redis } from '../redis/connection.ts'
import { statisticsKey } from '../redis/names.ts'
import { serverTime } from '../redis/server-clock.ts'
import { countScript, countUsageScript, keptSec } from './call-count-scripts.ts'
import { seriesName, seriesOf, usageName, type CountedCall, type Series } from './call-series.ts'
import { Tally } from './call-tally.ts'

export interface EndedCall extends CountedCall {
  state: 'succeeded' | 'failed' | 'cancelled'
  ranMs: number
  /** Undefined for a run that wasn't the first. */
  waitedMs: number | undefined
  outputBytes: number
  /** Of the tool's processes; an estimate. */
  processorMs: number
}

/** Counts are sent this often, in milliseconds: so much is lost with a worker. */
const everyMs = 5_000
const minuteMs = 60_000

interface Usage {
  names: [own: string, rest: string]
  numbers: [calls: number, ranMs: number, outputBytes: number]
  processorMs: number
}

interface Counted {
  series: Map<string, { series: Series, tally: Tally }>
  usage: Map<string, Usage>
}

/**
 * Counts the calls of a worker in memory, and adds the counts to those in Redis from time to time. What can't be sent is
 * dropped: the counts are for people, and Redis may have taken them before the connection broke.
 */
export class CallCounter {
  readonly #redis: Redis
  readonly #onError: (error: unknown) => void
  #minutes = new Map<number, Counted>()
  #timer: NodeJS.Timeout | undefined
  #total = 0

  constructor (redis: Redis, onError: (error: unknown) => void) {
    this.#redis = redis
    this.#onError = onError
  }

  start (): void {
    this.#timer ??= setInterval(() => { void this.#flush() }, everyMs).unref()
  }

  /** Sends what is left. */
  async stop (): Promise<void> {
    clearInterval(this.#timer)
    await this.#flush()
  }

  /** Calls that were counted since the worker started. */
  get total (): number {
    return this.#total
  }

  count (call: EndedCall): void {
    this.#total += 1
    const minute = Math.floor(serverTime(this.#redis) / minuteMs)
    const counted: Counted = this.#minutes.get(minute) ?? { series: new Map(), usage: new Map() }
    this.#minutes.set(minute, counted)
    for (const series of seriesOf(call)) {
      const name = seriesName(series)
      const own = counted.series.get(name) ?? { series, tally: new Tally() }
      counted.series.set(name, own)
      own.tally.count(call.state, call.ranMs, call.waitedMs)
    }
    const name = usageName(call)
    const usage = counted.usage.get(name) ?? { names: [name, usageName({ tenant: call.tenant, keyName: '', tool: '' })], numbers: [0, 0, 0], processorMs: 0 }
    counted.usage.set(name, usage)
    usage.numbers[0] += 1
    usage.numbers[1] += Math.round(call.ranMs)
    usage.numbers[2] += call.outputBytes
    usage.processorMs += Math.round(call.processorMs)
  }

  async #flush (): Promise<void> {
    const minutes = this.#minutes
    this.#minutes = new Map()
    try {
      for (const [minute, counted] of minutes) await this.#send(minute, counted)
    } catch (error) {
      this.#onError(error)
    }
  }

  async #send (minute: number, { series, usage }: Counted): Promise<void> {
    const hour = Math.floor(minute / 60)
    const calls = [...series.values()].map(({ series, tally }) => {
      const { tenant = '', dimension } = series
      const other = dimension === 'total' ? '' : seriesName({ ...series, name: '' })
      return { keys: [], args: [seriesName(series), tenant, other, JSON.stringify(tally.record)] }
    })
    const keys = [statisticsKey('minute', minute), statisticsKey('hour', hour), statisticsKey('series'), statisticsKey('owners')]
    await countScript.run(this.#redis, calls, { keys, args: [minute, keptSec] })
    const usages = [...usage.values()]
    const add = async (what: 'usage' | 'processor', counted: Array<{ names: readonly string[], numbers: readonly number[] }>): Promise<void> => {
      if (counted.length === 0) return
      await countUsageScript.run(
        this.#redis, counted.map(({ names, numbers }) => ({ keys: [], args: [...names, JSON.stringify(numbers)] })),
        { keys: [statisticsKey(what, hour)], args: [keptSec] }
      )
    }
    // By itself: workers of versions that don't know it add to the other too. First: who sees a call has its processor time.
    await add('processor', usages.filter(used => used.processorMs > 0).map(({ names, processorMs }) => ({ names, numbers: [processorMs] })))
    await add('usage', usages)
  }
}
