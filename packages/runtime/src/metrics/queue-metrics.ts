import { unlessAborted } from '../abort/unless-aborted.ts'
import { Gauge, type Registry } from 'prom-client'

export interface CountedQueue {
  queue: string
  /** Whether an operator paused it: its jobs are not taken. */
  isPaused: boolean
  /** Due, and not running. */
  waiting: number
  /** Not due yet: submitted with a delay, between two attempts, or of a serial tool that is busy. */
  delayed: number
  /** Waiting for other jobs. */
  blocked: number
  /** Waiting for a person: an approval, or an answer. */
  held: number
  running: number
  /** For how long the oldest waiting job has been due, in seconds; 0 when none waits. */
  oldestSec: number
}

/** How long a scrape waits for Redis, in milliseconds. */
const patienceMs = 1_500

/** Reads what is told of Redis; each is asked at a scrape and may fail while Redis is away. */
interface RedisReadings {
  queues: () => Promise<readonly CountedQueue[]>
  /** Does nothing but wait for an answer of Redis. */
  ping: () => Promise<unknown>
}

/**
 * Adds what all processes read alike from Redis, at each scrape: jobs by queue and state, the age of the oldest, and how
 * long Redis takes to answer. While Redis is away `toolyard_redis_up` is 0, and the others are absent.
 */
export function createQueueMetrics (registry: Registry, readings: RedisReadings): void {
  let reading: Promise<void> | undefined
  // Gauges are collected side by side: the first one reads for all.
  const collect = async (): Promise<void> => { await (reading ??= read().finally(() => { reading = undefined })) }
  const shared = { registers: [registry], collect }
  const up = new Gauge({ name: 'toolyard_redis_up', help: '1 when Redis answers.', ...shared })
  const latency = new Gauge({ name: 'toolyard_redis_latency_seconds', help: 'Time that Redis took to answer a PING at this scrape.', ...shared })
  const oldest = new Gauge({ name: 'toolyard_queue_oldest_seconds', help: 'For how long the oldest waiting job has been due.', labelNames: ['queue'], ...shared })
  const jobs = new Gauge({ name: 'toolyard_queue_jobs', help: 'Unfinished jobs by queue and state: waiting, delayed, blocked (by other jobs), held (for a person), running.', labelNames: ['queue', 'state'], ...shared })

  async function read (): Promise<void> {
    for (const gauge of [jobs, oldest]) gauge.reset()
    latency.remove()
    const signal = AbortSignal.timeout(patienceMs)
    try {
      const askedAt = performance.now()
      await unlessAborted(readings.ping(), signal)
      latency.set((performance.now() - askedAt) / 1_000)
      for (const { queue, isPaused: _, oldestSec, ...states } of await unlessAborted(readings.queues(), signal)) {
        oldest.set({ queue }, oldestSec)
        for (const [state, count] of Object.entries(states)) jobs.set({ queue, state }, count)
      }
      up.set(1)
    } catch {
      up.set(0)
    }
  }
}
