import { setImmediate as turn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { readJsonInTurns, writeJson } from '@toolyard/contract/terms'
import { manifestLimits } from '../tool/limits.ts'
import type { SchemaFault } from './check.ts'
import type { Issue } from './issues.ts'
import type { ArgumentsResult } from './validator.ts'

/** What the thread is asked: for the faults of a schema, or whether arguments fit it. */
export interface SchemaTask {
  /** The schema: the thread knows it by its text when it is asked again. */
  json: string
  /** JSON of arguments: a text is handed over in a moment, and 30,000 objects in a tenth of a second. */
  args?: string
}

export interface SchemaAnswer {
  faults?: SchemaFault[]
  /** What is wrong with arguments; nothing where they fit. */
  issues?: Issue[]
  /** JSON of the arguments with their defaults, where the schema has any. */
  filled?: string
}

interface Waiting {
  task: SchemaTask
  resolve: (answer: SchemaAnswer | undefined) => void
}

/**
 * A thread for large schemas and large arguments, which starts with the first of them. It takes one task after the other. One that takes
 * more time or memory than any schema is worth ends the thread, and gets no answer; another thread takes those behind it.
 */
export class SchemaThread {
  /** In their order: the thread is at the first of them. */
  readonly #waiting: Waiting[] = []
  #thread: Worker | undefined
  /** Of the task that the thread is at. */
  #timer: NodeJS.Timeout | undefined

  /** What is wrong with a schema. */
  async check (json: string): Promise<SchemaFault[]> {
    const answer = await this.#ask({ json })
    return answer?.faults ?? [{ message: 'takes too long to check', fix: 'Make the schema smaller, and its patterns simpler.' }]
  }

  /** Validates arguments; undefined when that took too much. */
  async validate (json: string, args: Record<string, unknown>): Promise<ArgumentsResult | undefined> {
    // Who asks may have taken this turn of the event loop already.
    await turn()
    const answer = await this.#ask({ json, args: writeJson(args) })
    if (answer === undefined) return undefined
    if (answer.issues !== undefined) return { ok: false, issues: answer.issues }
    if (answer.filled === undefined) return { ok: true, arguments: args }
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- The thread has written it.
    return { ok: true, arguments: await readJsonInTurns(answer.filled, turn) as Record<string, unknown> }
  }

  async #ask (task: SchemaTask): Promise<SchemaAnswer | undefined> {
    return await new Promise(resolve => {
      const waiting = { task, resolve }
      this.#waiting.push(waiting)
      this.#post(waiting)
      if (this.#waiting.length === 1) this.#begin()
    })
  }

  #post ({ task }: Waiting): void {
    this.#thread ??= this.#start()
    this.#thread.postMessage(task)
  }

  /** The thread goes on with the first task, if there is one. */
  #begin (): void {
    clearTimeout(this.#timer)
    // A thread without a task keeps no process alive.
    if (this.#waiting.length === 0) {
      this.#thread?.unref()
      return
    }
    const thread = this.#thread
    thread?.ref()
    this.#timer = setTimeout(() => { void thread?.terminate() }, manifestLimits.schemaMs)
  }

  #start (): Worker {
    // Sources are compiled, so the thread's file is JavaScript.
    const thread = new Worker(new URL('./schema-worker.js', import.meta.url), {
      env: {}, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: manifestLimits.schemaHeapMb }
    })
    thread.on('message', (answer: SchemaAnswer) => {
      this.#waiting.shift()?.resolve(answer)
      this.#begin()
    })
    // An error ends the thread, too.
    thread.on('error', () => {})
    thread.on('exit', () => {
      this.#thread = undefined
      this.#waiting.shift()?.resolve(undefined)
      for (const waiting of this.#waiting) this.#post(waiting)
      this.#begin()
    })
    return thread
  }
}
