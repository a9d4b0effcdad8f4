import { setImmediate as turn } from 'node:timers/promises'
import { readJsonInTurns, writeJson } from '@toolyard/contract/terms'
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
}

export interface SchemaAnswer {
  /** What is wrong with arguments; nothing where they fit. */
  issues?: Issue[]
  /** JSON of the arguments with their defaults, where the schema has any. */
  filled?: string
}

const script = new URL('./schema-thread.js', import.meta.url)
const memoryMb = manifestLimits.schemaHeapMb

/**
 * Threads for large schemas, large arguments and patterns that are not plain. What takes more time or memory than it is worth
 * gets no answer.
 */
export class SchemaThreads {
  // One thread knows all schemas, and takes one task after the other.
  readonly #usual = new Threads(script, undefined, { memoryMb, most: 1 })
  /** For patterns that can backtrack: they wait for one another alone. */
  readonly #backtracking = new Threads(script, undefined, { memoryMb, most: 1 })

  async check (json: string): Promise<SchemaFault[]> {
    return await ask<SchemaFault[]>(this.#usual, { kind: 'check', task: { json } }, manifestLimits.schemaMs) ?? [{ message: 'takes too long to check', fix: 'Make the schema smaller, and its patterns simpler.' }]
  }

  /** Validates arguments; undefined when that took too much. */
  async validate (json: string, args: Record<string, unknown>, backtracks: boolean): Promise<ArgumentsResult | undefined> {
    // Who asks may have taken this turn of the event loop already.
    await turn()
    const work = { kind: 'validate', task: { json, args: writeJson(args) } }
    const answer = backtracks
      ? await ask<SchemaAnswer>(this.#backtracking, work, manifestLimits.backtrackMs)
      : await ask<SchemaAnswer>(this.#usual, work, manifestLimits.schemaMs)
    if (answer === undefined) return undefined
    if (answer.issues !== undefined) return { ok: false, issues: answer.issues }
    if (answer.filled === undefined) return { ok: true, arguments: args }
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- The thread has written it.
    return { ok: true, arguments: await readJsonInTurns(answer.filled, turn) as Record<string, unknown> }
  }
}

async function ask<Answer> (threads: Threads, work: ThreadWork, ms: number): Promise<Answer | undefined> {
  try {
    return await threads.run<Answer>(work, { ms })
  } catch (error) {
    if (error instanceof ThreadError) return undefined
    throw error
  }
}
