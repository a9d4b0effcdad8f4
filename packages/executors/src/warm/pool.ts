import type { ProcessPlan } from '@toolyard/sandbox'
import { createSlot, type Ready, type Slot, type Unfit, type WarmTool } from './slot.ts'
import { targetsOf } from './targets.ts'

interface PoolOptions {
  /** Memory of all waiting processes together, in bytes. */
  maxBytes: number
  /** After which a waiting process is replaced, in milliseconds. */
  maxIdleMs: number
  /** Calls that may run while a process is started: one less than there are processors. */
  spare: number
  now: () => number
  onUnfit: (tool: string, reason: string) => void
}

/** How long the worker must have rested from a call's end until it starts a process, in milliseconds. */
const restMs = 5
const tickMs = 1_000
/** So many tools are remembered that are kept because they were called. */
const mostUsed = 64
const mebibyte = 2 ** 20

/**
 * Processes of tools that wait ready, each for one call. A process is `starting`, then `waiting`, then it serves a call
 * or is ended, and nothing leads back. At most one is starting, and only while fewer calls run than there are processors.
 */
export class WarmPool<Process> {
  readonly #options: PoolOptions
  readonly #slots = new Map<string, Slot<Process>>()
  readonly #stop = new AbortController()
  readonly #ending = new Set<Promise<void>>()
  #starting: Promise<void> | undefined
  #running = 0
  #calls = 0
  #rest: NodeJS.Timeout | undefined
  #tick: NodeJS.Timeout | undefined

  constructor (options: PoolOptions) {
    this.#options = options
  }

  /** Says which tools are kept ready from now on, by their names; `digest` tells one declaration from another. */
  keep (tools: ReadonlyMap<string, { tool: WarmTool<Process>, digest: string }>): void {
    if (this.#stop.signal.aborted) return
    for (const [name, slot] of this.#slots) {
      if (tools.get(name)?.digest === slot.digest) continue
      this.#slots.delete(name)
      this.#drop(slot, slot.waiting.length)
    }
    for (const [name, { tool, digest }] of tools) {
      if (!this.#slots.has(name)) this.#slots.set(name, createSlot(tool, { digest, byUse: false }))
    }
    this.#watch()
    this.#fillAfterRest()
  }

  /**
   * A call uses what can be kept under this name; it is kept from now on, as `auto`. What is returned is to be called when
   * the call has ended.
   */
  use (name: string, tool: WarmTool<Process>): () => void {
    const now = this.#options.now()
    const slot = this.#slots.get(name) ?? createSlot(tool, { digest: '', byUse: true })
    this.#slots.delete(name)
    this.#slots.set(name, slot)
    slot.lastCall = ++this.#calls
    slot.demand.began(now)
    const [oldest] = this.#slots.keys()
    if (this.#slots.size > mostUsed && oldest !== undefined) this.#forget(oldest)
    this.#watch()
    return () => { slot.demand.ended() }
  }

  /** False while nothing waits, and nothing would be started after a call that begins now either. */
  mayServe (): boolean {
    return this.#running <= this.#options.spare || [...this.#slots.values()].some(({ waiting }) => waiting.length > 0)
  }

  /** A call of any tool begins; what is returned is to be called when it has ended. */
  began (name: string): () => void {
    const slot = this.#slots.get(name)
    this.#running += 1
    if (slot !== undefined) {
      slot.lastCall = ++this.#calls
      slot.demand.began(this.#options.now())
    }
    return () => {
      this.#running -= 1
      slot?.demand.ended()
      this.#fillAfterRest()
    }
  }

  /**
   * Takes a process for a call, hands over its stdin, and returns it; undefined when the call is to be served cold.
   *
   * @param log gets the reason once when the tool can't be kept ready.
   */
  async take (
    name: string, fingerprint: () => Promise<string | undefined>,
    { plan, stdin }: { plan: ProcessPlan, stdin: string }, log: (line: string) => void
  ): Promise<Process | undefined> {
    const slot = this.#slots.get(name)
    if (slot === undefined) return undefined
    if (slot.unfit !== undefined) {
      await this.#judgeAgain(slot, fingerprint, log)
      return undefined
    }
    if (slot.waiting.length === 0) return undefined
    const wanted = await fingerprint().catch(() => undefined)
    while (!this.#stop.signal.aborted) {
      const next = slot.waiting.shift()
      if (next === undefined) return undefined
      const served = next.fingerprint === wanted ? next.process.serve(plan, stdin) : undefined
      if (served !== undefined) return served
      this.#end(next.process)
    }
    return undefined
  }

  /** Ends processes that have waited too long; others take their places. Done once a second. */
  renew (): void {
    const old = this.#options.now() - this.#options.maxIdleMs
    for (const [name, slot] of this.#slots) {
      this.#drop(slot, slot.waiting.filter(({ since }) => since <= old).length)
      if (slot.byUse && slot.demand.peak(this.#options.now()) === 0) this.#forget(name)
    }
    this.#fill()
  }

  /** Ends what waits under these names, and starts no more of it. */
  forget (isGone: (name: string) => boolean): void {
    for (const name of [...this.#slots.keys()].filter(isGone)) this.#forget(name)
  }

  #forget (name: string): void {
    const slot = this.#slots.get(name)
    this.#slots.delete(name)
    if (slot !== undefined) this.#drop(slot, slot.waiting.length)
    this.#watch()
  }

  #watch (): void {
    if (this.#slots.size > 0 && !this.#stop.signal.aborted) this.#tick ??= setInterval(() => { this.renew() }, tickMs).unref()
    else {
      clearInterval(this.#tick)
      this.#tick = undefined
    }
  }

  /** How many processes of a tool wait, or of all. */
  waiting (name?: string): number {
    return [...this.#slots].reduce((sum, [each, { waiting }]) => name === undefined || each === name ? sum + waiting.length : sum, 0)
  }

  /** Fulfilled when no process waits any more, and none will. */
  async close (): Promise<void> {
    this.#stop.abort()
    clearInterval(this.#tick)
    clearTimeout(this.#rest)
    for (const slot of this.#slots.values()) this.#drop(slot, slot.waiting.length)
    this.#slots.clear()
    await this.#starting
    await Promise.all(this.#ending)
  }

  #fillAfterRest (): void {
    if (this.#slots.size === 0 || this.#rest !== undefined) return
    this.#rest = setTimeout(() => {
      this.#rest = undefined
      this.#fill()
    }, restMs).unref()
  }

  /** Starts the next process that is missing, if it may; the end of its start calls this again. */
  #fill (): void {
    if (this.#starting !== undefined || this.#stop.signal.aborted || this.#running > this.#options.spare) return
    const now = this.#options.now()
    const targets = this.#targets(now)
    for (const [name, slot] of this.#slots) {
      const target = targets.get(name) ?? 0
      this.#drop(slot, slot.waiting.length - target)
      if (slot.unfit !== undefined && slot.unfit.until <= now) delete slot.unfit
    }
    const [name, slot] = [...this.#slots].sort(([, a], [, b]) => b.lastCall - a.lastCall)
      .find(([name, { waiting, unfit }]) => unfit === undefined && waiting.length < (targets.get(name) ?? 0)) ?? []
    if (name === undefined || slot === undefined) return
    this.#starting = this.#start(name, slot).catch(() => {}).then(() => {
      this.#starting = undefined
      this.#fill()
    })
  }

  #targets (now: number): Map<string, number> {
    return targetsOf(new Map([...this.#slots].map(([name, { tool, demand, bytes, lastCall }]) => (
      [name, { count: tool.warm === 'auto' ? demand.peak(now) : tool.warm, bytes, lastCall }]
    ))), this.#options.maxBytes)
  }

  async #start (name: string, slot: Slot<Process>): Promise<void> {
    const fingerprint = await slot.tool.fingerprint().catch(() => undefined)
    const process: Ready<Process> | Unfit = fingerprint === undefined
      ? { kind: 'unfit', reason: 'there can be no box for it now', passing: true }
      : await slot.tool.start(this.#stop.signal)
    const { maxBytes, maxIdleMs, now: clock, onUnfit } = this.#options
    const now = clock()
    const isKept = this.#slots.get(name) === slot && !this.#stop.signal.aborted
    const fault: Omit<Unfit, 'kind'> | undefined = process.kind === 'unfit'
      ? process
      : process.bytes > maxBytes ? { reason: `one process takes ${Math.ceil(process.bytes / mebibyte)} MB, more than WARM_MAX_MB`, passing: false } : undefined
    if (fault !== undefined && isKept) {
      this.#drop(slot, slot.waiting.length)
      slot.unfit = { reason: fault.reason, fingerprint, until: fault.passing ? now + maxIdleMs : Infinity, reported: fault.passing }
      if (!fault.passing) onUnfit(name, fault.reason)
    }
    if (process.kind === 'unfit') return
    if (fault !== undefined) {
      this.#end(process)
      return
    }
    slot.bytes = Math.max(slot.bytes, process.bytes)
    const isMissing = slot.waiting.length < (this.#targets(now).get(name) ?? 0)
    if (isKept && isMissing && fingerprint !== undefined) slot.waiting.push({ process, fingerprint, since: now })
    else this.#end(process)
  }

  /** One whose program was changed may be fit by now. */
  async #judgeAgain (slot: Slot<Process>, fingerprint: () => Promise<string | undefined>, log: (line: string) => void): Promise<void> {
    const { unfit } = slot
    if (unfit === undefined) return
    if (!unfit.reported) {
      unfit.reported = true
      log(`[warm: this tool can't be kept ready, since ${unfit.reason}]`)
    }
    const now = await fingerprint().catch(() => undefined)
    if (slot.unfit === unfit && now !== undefined && now !== unfit.fingerprint && unfit.until === Infinity) delete slot.unfit
  }

  /** Ends the oldest ones. */
  #drop (slot: Slot<Process>, count: number): void {
    for (const { process } of slot.waiting.splice(0, Math.max(0, count))) this.#end(process)
  }

  #end (process: Ready<Process>): void {
    const ended = process.end().catch(() => {}).then(() => { this.#ending.delete(ended) })
    this.#ending.add(ended)
  }
}
