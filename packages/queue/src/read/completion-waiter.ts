import type { Settlement } from '@toolyard/contract'
import { mapInTurns, onAbort, within } from '@toolyard/runtime'
import { randomUUID } from 'node:crypto'
import { type Redis, jobKey, replyChannel, pipelined, fromRedis, listen } from '@toolyard/store'
import { askedField, decodeQuestion, questionField } from '../record/question.ts'
import { decodeReply, decodeSettlement, settlementFields } from '../record/settlement.ts'

/*
 * How an API process notices that a job has ended, or that its tool asks something: by a message on its own channel, and by a
 * sweep that reads the records of all awaited jobs, since a message can be lost. A record that is missing says nothing, and the
 * job stays awaited. See docs/decisions/0001-one-reply-channel.md.
 *
 * States of a batch: expected (before its jobs are added, so that no completion slips through) -> armed (its jobs exist,
 * the sweep may look for them) -> released (answered, timed out or abandoned).
 */

interface Expected {
  queue: string
  /** A request that is repeated with its Idempotency-Key waits for the same job as the first. */
  batches: Set<Batch>
}

interface Batch {
  armed: boolean
  readonly missing: Set<string>
  readonly settled: Map<string, Settlement>
  readonly onSettled: (id: string, settlement: Settlement) => void
  /** Called when nothing is missing any more. */
  done: () => void
}

/** One batch's jobs, as its request waits for them. */
interface Expectation {
  /**
   * These jobs have been added and no others will be; from now on the sweep reads their records. With `look` it does so at
   * once: they may have ended before anybody waited.
   */
  arm: (addedIds: readonly string[], look?: boolean) => void
  /** Waits until all jobs have ended, `waitMs` are over or the signal aborts; the map holds what is settled then. */
  settle: (waitMs: number, signal: AbortSignal) => Promise<ReadonlyMap<string, Settlement>>
  release: () => void
}

const sweepIntervalMs = 500
const lastLookMs = 40
/** Records that the sweep reads at once: other commands, and other work of this process, get their turn in between. */
const sweepChunk = 250

/** Waits for the jobs of any number of requests over one subscription. */
export class CompletionWaiter {
  /** Goes into the data of each job that this process waits for. */
  readonly processId = randomUUID()
  readonly #commands: Redis
  readonly #subscriber: Redis
  readonly #expected = new Map<string, Expected>()
  #sweepTimer: NodeJS.Timeout | undefined
  #sweeping: Promise<void> | undefined

  constructor (commands: Redis, subscriber: Redis) {
    this.#commands = commands
    this.#subscriber = subscriber
    subscriber.on('message', (channel: string, message: string) => {
      if (channel === replyChannel(this.processId)) void this.#receive(message)
    })
    subscriber.on('ready', () => { void this.#sweep() })
  }

  /** Starts listening; resolves when the subscription stands. */
  async start (): Promise<void> {
    await listen(this.#subscriber, replyChannel(this.processId))
  }

  /** Stops the sweep; requests that still wait get what is settled at their deadline. */
  stop (): void {
    clearTimeout(this.#sweepTimer)
    this.#expected.clear()
  }

  get size (): number {
    return this.#expected.size
  }

  /**
   * Registers jobs before they are added. Call `release` in the end, whatever happened.
   *
   * @param onSettled gets each job that ends until then, once.
   */
  expect (queue: string, jobIds: readonly string[], onSettled: (id: string, settlement: Settlement) => void = () => {}): Expectation {
    const batch: Batch = { armed: false, missing: new Set(jobIds), settled: new Map(), onSettled, done: () => {} }
    for (const id of jobIds) this.#await(queue, id, batch)
    return {
      arm: (addedIds, look = false) => {
        const added = new Set(addedIds)
        for (const id of jobIds) {
          if (added.has(id)) continue
          this.#forget(id, batch)
          batch.missing.delete(id)
        }
        batch.armed = true
        if (batch.missing.size > 0) this.#scheduleSweep()
        if (look) void this.#sweep()
      },
      settle: async (waitMs, signal) => {
        await completed(batch, waitMs, signal)
        // The record is read once more, but no longer than an answer may be late.
        if (batch.missing.size > 0 && !signal.aborted) await within(lastLookMs, this.#sweep())
        return batch.settled
      },
      release: () => {
        for (const id of jobIds) this.#forget(id, batch)
      }
    }
  }

  #await (queue: string, jobId: string, batch: Batch): void {
    const expected = this.#expected.get(jobId) ?? { queue, batches: new Set() }
    expected.batches.add(batch)
    this.#expected.set(jobId, expected)
  }

  #forget (jobId: string, batch: Batch): void {
    const batches = this.#expected.get(jobId)?.batches
    batches?.delete(batch)
    if (batches?.size === 0) this.#expected.delete(jobId)
  }

  /** The first line is read at once: most messages have no other. */
  async #receive (message: string): Promise<void> {
    await mapInTurns(message.split('\n'), line => {
      const { id, settlement } = decodeReply(line)
      this.#settle(id, settlement)
    })
  }

  #settle (id: string, settlement: Settlement): void {
    const expected = this.#expected.get(id)
    if (expected === undefined) return
    this.#expected.delete(id)
    for (const batch of expected.batches) {
      batch.settled.set(id, settlement)
      batch.missing.delete(id)
      batch.onSettled(id, settlement)
      if (batch.missing.size === 0) batch.done()
    }
  }

  #scheduleSweep (): void {
    this.#sweepTimer ??= setTimeout(() => {
      this.#sweepTimer = undefined
      void this.#sweep().finally(() => { if (this.#expected.size > 0) this.#scheduleSweep() })
    }, sweepIntervalMs)
  }

  /** One sweep at a time; who asks during one gets that one. */
  async #sweep (): Promise<void> {
    this.#sweeping ??= this.#readRecords().finally(() => { this.#sweeping = undefined })
    await this.#sweeping
  }

  async #readRecords (): Promise<void> {
    const awaited = [...this.#expected].filter(([, { batches }]) => [...batches].some(batch => batch.armed))
    for (let start = 0; start < awaited.length && this.#commands.status === 'ready'; start += sweepChunk) {
      await this.#readSome(awaited.slice(start, start + sweepChunk))
    }
  }

  async #readSome (awaited: ReadonlyArray<[id: string, expected: Expected]>): Promise<void> {
    const replies = await pipelined(this.#commands, awaited, ([, { queue }]) => queue, (pipeline, [id, { queue }]) => {
      pipeline.hmget(jobKey(queue, id), ...settlementFields, askedField, questionField)
    })
    await mapInTurns(awaited, ([id], index) => {
      const reply = replies[index]
      if (reply === undefined || reply instanceof Error) return
      const [fields] = fromRedis<[Array<string | null>]>(reply)
      const settlement = decodeSettlement(fields) ?? decodeQuestion(fields.at(-2), fields.at(-1))
      if (settlement !== undefined) this.#settle(id, settlement)
    })
  }
}

async function completed (batch: Batch, waitMs: number, signal: AbortSignal): Promise<void> {
  if (batch.missing.size === 0 || signal.aborted) return
  await new Promise<void>(resolve => {
    const end = (): void => {
      clearTimeout(timer)
      off()
      resolve()
    }
    const timer = setTimeout(end, waitMs)
    const off = onAbort(signal, end)
    batch.done = end
  })
}
