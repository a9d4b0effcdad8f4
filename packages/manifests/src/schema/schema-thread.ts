import { Worker } from 'node:worker_threads'
import { manifestLimits } from '../tool/limits.ts'
import type { SchemaFault } from './check.ts'
import type { ArgumentsResult } from './validator.ts'

/** What the thread is asked: for the faults of a schema, or whether arguments fit it. */
export interface SchemaTask {
  id: number
  /** The schema: the thread knows it by its text when it is asked again. */
  json: string
  args?: Record<string, unknown>
}

/** What it answers. */
export interface SchemaAnswer {
  id: number
  faults?: SchemaFault[]
  result?: ArgumentsResult
}

interface Waiting {
  resolve: (answer: SchemaAnswer | undefined) => void
  timer: NodeJS.Timeout
}

/**
 * A thread for large schemas, which starts with the first of them. It takes one task after the other. One that takes
 * more time or memory than any schema is worth ends the thread; the next task starts another one.
 */
export class SchemaThread {
  readonly #waiting = new Map<number, Waiting>()
  #thread: Worker | undefined
  #last = 0

  /** What is wrong with a schema. */
  async check (json: string): Promise<SchemaFault[]> {
    const answer = await this.#ask({ json })
    return answer?.faults ?? [{ message: 'takes too long to check', fix: 'Make the schema smaller, and its patterns simpler.' }]
  }

  /** Validates arguments; undefined when that took too much. */
  async validate (json: string, args: Record<string, unknown>): Promise<ArgumentsResult | undefined> {
    return (await this.#ask({ json, args }))?.result
  }

  async #ask (task: Omit<SchemaTask, 'id'>): Promise<SchemaAnswer | undefined> {
    const id = this.#last++
    return await new Promise(resolve => {
      const thread = this.#thread ??= this.#start()
      const timer = setTimeout(() => { void thread.terminate() }, manifestLimits.schemaMs)
      this.#waiting.set(id, { resolve, timer })
      thread.ref()
      thread.postMessage({ id, ...task } satisfies SchemaTask)
    })
  }

  #start (): Worker {
    // Sources are compiled, so the thread's file is JavaScript.
    const thread = new Worker(new URL('./schema-worker.js', import.meta.url), {
      env: {}, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: manifestLimits.schemaHeapMb }
    })
    thread.on('message', (answer: SchemaAnswer) => { this.#settle(answer.id, answer) })
    // An error ends the thread, too.
    thread.on('error', () => {})
    thread.on('exit', () => {
      this.#thread = undefined
      for (const id of [...this.#waiting.keys()]) this.#settle(id, undefined)
    })
    return thread
  }

  #settle (id: number, answer: SchemaAnswer | undefined): void {
    const waiting = this.#waiting.get(id)
    clearTimeout(waiting?.timer)
    this.#waiting.delete(id)
    // A thread without a task keeps no process alive.
    if (this.#waiting.size === 0) this.#thread?.unref()
    waiting?.resolve(answer)
  }
}
