import type { SubmitJobResponse } from '@toolyard/contract'
import { setTimeout as delay } from 'node:timers/promises'
import { createClient, type Answer, type RequestOptions } from '../support/client.ts'
import type { Ledger } from './calls.ts'
import type { Random } from './random.ts'
import type { World } from './world.ts'
import { soakKeys } from './world.ts'

/** Longer than any answer may take. */
const answerMs = 90_000
/** How long a request is repeated that finds no service. */
const patienceMs = 120_000

/** Who does one operation after the other. */
export interface Actor {
  world: World
  ledger: Ledger
  random: Random
  caller: Caller
  /** How many operations it has done. */
  count: number
  name: string
}

/** Who asks the service for things: any key, any API. */
export class Caller {
  readonly #world: World
  readonly #ledger: Ledger
  readonly #random: Random

  constructor (world: World, ledger: Ledger, random: Random) {
    this.#world = world
    this.#ledger = ledger
    this.#random = random
  }

  /** Sends a request once. @returns undefined where the connection broke, or the service said that it can't serve now */
  async once<T> (key: string, path: string, options: RequestOptions = {}): Promise<Answer<T> | undefined> {
    const apis = this.#world.members.filter(({ kind }) => kind === 'api')
    try {
      const { process } = this.#random.pick(apis)
      const answer = await createClient(process.address, key).request<T>(path, { ...options, signal: AbortSignal.timeout(answerMs) })
      if (answer.status !== 503) return answer
      this.#ledger.count('answers 503')
    } catch (error) {
      if (error instanceof Error && error.name === 'TimeoutError') this.#ledger.doubt(`${path} had no answer within ${answerMs} ms`)
      this.#ledger.count('requests broken')
    }
    return undefined
  }

  /** Sends a request that may be repeated until it is answered. @throws Error when there is no answer in two minutes */
  async until<T> (key: string, path: string, options: RequestOptions = {}): Promise<Answer<T>> {
    const deadline = performance.now() + patienceMs
    for (;;) {
      const answer = await this.once<T>(key, path, options)
      if (answer !== undefined) return answer
      if (performance.now() > deadline) throw new Error(`${path} was not answered within ${patienceMs} ms`)
      await delay(200)
    }
  }

  /** The API key of one of the soak's callers. */
  key (): string {
    return this.#random.pick(soakKeys).key
  }

  /** Where an event stream is opened. */
  address (): string {
    return this.#random.pick(this.#world.members.filter(({ kind }) => kind === 'api')).process.address
  }
}

/** Submits a job with a key until it is answered, and says which id it got. */
export async function submit (
  { ledger, random, caller, name, count }: Actor, body: object, marks: string[], note: (id: string) => void
): Promise<void> {
  const options = { body, headers: { 'idempotency-key': `${name}-${count}` } }
  const key = caller.key()
  ledger.history.add(`submits ${JSON.stringify(body)}`, ...marks)
  for (let times = random.chance(0.2) ? 2 : 1; times > 0; times--) {
    const answer = await caller.until<SubmitJobResponse>(key, '/v1/jobs', options)
    ledger.history.add(`answered ${answer.status}: ${answer.text.slice(0, 300)}`, ...marks)
    if (answer.status === 200 || answer.status === 201) note(answer.body.job.id)
    else if (answer.status === 409) ledger.count('answers 409')
    // A job that it depends on may have been lost, or cancelled.
    else if (answer.status !== 400 && answer.status !== 404) ledger.doubt(`a job was answered with ${answer.status}: ${answer.text.slice(0, 300)}`, ...marks)
  }
}
