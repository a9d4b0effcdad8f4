import { setImmediate as turn } from 'node:timers/promises'
import { readJsonInTurns, writeJson } from '@toolyard/contract/terms'
import { OwnerTurns, TurnMissedError } from '@toolyard/runtime'
import { ThreadError, Threads, type ThreadWork } from '@toolyard/runtime/threads'
import { manifestLimits } from '../tool/limits.ts'
import type { SchemaFault } from './check.ts'
import type { Issue } from './issues.ts'
import type { ArgumentsResult } from './validator.ts'

export interface SchemaTask {
  /** The schema: a thread knows it by its text when it is asked again. */
  json: string
  /** JSON of arguments: a text is handed over in a moment, and 30,000 objects in a tenth of a second. */
  args?: string
  /** Nothing of the schema is remembered: there may be any number of them. */
  once?: boolean
}

export interface SchemaAnswer {
  /** None where the arguments fit. */
  issues?: Issue[]
  /** JSON of the arguments with their defaults, where the schema has any. */
  filled?: string
}

const script = new URL('./schema-thread.js', import.meta.url)
const memoryMb = manifestLimits.schemaHeapMb
/** How long work may wait for its turn, in milliseconds: a manifest may have thousands of schemas. */
const patienceMs = { call: 60_000, manifest: 2 ** 31 - 1 }

/** One thread, which knows all schemas and takes one task after the other. Tenants and keys take turns. */
class Lane {
  readonly #threads = new Threads(script, undefined, { memoryMb })
  readonly #turns = new OwnerTurns(1)

  async ask<Answer> (owner: string, work: ThreadWork, { ms, wait }: { ms: number, wait: number }): Promise<Answer | undefined> {
    try {
      return await this.#turns.run(owner, async () => await this.#threads.run<Answer>(work, { ms }), { ms: wait })
    } catch (error) {
      if (error instanceof ThreadError || error instanceof TurnMissedError) return undefined
      throw error
    }
  }
}

/**
 * Threads for large schemas, large arguments and patterns that are not plain. What takes more time or memory than it is worth
 * gets no answer.
 */
export class SchemaThreads {
  readonly #usual = new Lane()
  /** For patterns that can backtrack: they wait for one another alone. */
  readonly #backtracking = new Lane()
  readonly #once: boolean

  /** @param once they are given schemas that nobody asks for again. */
  constructor (once = false) {
    this.#once = once
  }

  async check (json: string, owner = ''): Promise<SchemaFault[]> {
    const times = { ms: manifestLimits.schemaMs, wait: patienceMs.manifest }
    return await this.#usual.ask<SchemaFault[]>(owner, { kind: 'check', task: { json, once: this.#once } satisfies SchemaTask }, times) ?? [{ message: 'takes too long to check', fix: 'Make the schema smaller, and its patterns simpler.' }]
  }

  /** Validates arguments of an owner's call; undefined when that took too much. */
  async validate (
    json: string, args: Record<string, unknown>, { backtracks, owner }: { backtracks: boolean, owner: string }
  ): Promise<ArgumentsResult | undefined> {
    // Who asks may have taken this turn of the event loop already.
    await turn()
    const work = { kind: 'validate', task: { json, args: writeJson(args), once: this.#once } satisfies SchemaTask }
    const lane = backtracks ? this.#backtracking : this.#usual
    const ms = backtracks ? manifestLimits.backtrackMs : manifestLimits.schemaMs
    const answer = await lane.ask<SchemaAnswer>(owner, work, { ms, wait: patienceMs.call })
    if (answer === undefined) return undefined
    if (answer.issues !== undefined) return { ok: false, issues: answer.issues }
    if (answer.filled === undefined) return { ok: true, arguments: args }
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- The thread has written it.
    return { ok: true, arguments: await readJsonInTurns(answer.filled, turn) as Record<string, unknown> }
  }
}
