import type { History } from './history.ts'
import type { SoakTool } from './tools.ts'

/** One run that was asked for: by a call, a job, or a step of a workflow. */
export interface Ask {
  /** The tool writes it down at each run. */
  mark: string
  tool: SoakTool
  /** How often it may run, where its tool isn't idempotent. */
  maxRuns: number
  /** The ids that answers gave for it; more than one is a fault. */
  jobIds: Set<string>
  /** When it was asked for, and when an answer named its job first, in milliseconds since the soak began. */
  askedAt: number
  namedAt?: number
  /** Embedded answers that were final: `ok` or an error's code. */
  ends: Set<string>
  /** Marks of jobs that must have succeeded before it runs. */
  after: string[]
  /** Where it is called back; undefined for nowhere. */
  callback: string | undefined
  /** Whether a cancel was answered with `cancelled`, or with `already finished`. */
  cancel: 'cancelled' | 'finished' | undefined
  /** When a cancel was answered, in milliseconds since the soak began. */
  cancelledAt?: number
  /** Said about it, and taken, where it needs an approval. */
  decisions: Set<'approve' | 'deny'>
  /** Whose answers were taken, where it asks something. */
  answers: Set<string>
}

export interface AskedWorkflow {
  run: string
  tool: 'once' | 'again' | 'flaky'
  jobIds: Set<string>
  cancel: 'cancelled' | 'finished' | undefined
  /** When a cancel was answered, in milliseconds since the soak began. */
  cancelledAt?: number
}

/** All that was asked for, and the doubts that came up on the way. */
export class Ledger {
  readonly asks: Ask[] = []
  readonly workflows: AskedWorkflow[] = []
  readonly doubts: Array<{ text: string, jobs: string[] }> = []
  /** How often each kind of thing happened. */
  readonly counts = new Map<string, number>()
  readonly history: History
  readonly #say: (line: string) => void
  #last = 0

  /** @param say prints a doubt as soon as there is one */
  constructor (history: History, say: (line: string) => void) {
    this.history = history
    this.#say = say
  }

  newMark (): string {
    this.#last += 1
    return `m${this.#last}`
  }

  ask (mark: string, tool: SoakTool, rest: Partial<Pick<Ask, 'maxRuns' | 'after' | 'callback'>> = {}): Ask {
    const ask: Ask = {
      mark,
      tool,
      maxRuns: 1,
      after: [],
      callback: undefined,
      jobIds: new Set(),
      askedAt: this.history.now(),
      ends: new Set(),
      cancel: undefined,
      decisions: new Set(),
      answers: new Set(),
      ...rest
    }
    this.asks.push(ask)
    return ask
  }

  /** An answer said that this job is what was asked for. */
  named (asked: Pick<Ask, 'jobIds' | 'namedAt'>, id: string): void {
    asked.jobIds.add(id)
    asked.namedAt ??= this.history.now()
  }

  count (what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1)
  }

  doubt (text: string, ...jobs: string[]): void {
    this.doubts.push({ text, jobs })
    this.#say(`${Math.round(this.history.now() / 1_000)} s: DOUBT ${text.slice(0, 500)}`)
  }
}
