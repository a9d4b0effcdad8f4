import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { DocumentPath } from '../finding/finding.ts'
import { manifestLimits } from '../tool/limits.ts'
import type { Position, YamlReading } from './yaml-text.ts'

/** What a thread is started for. */
export type YamlTask = { kind: 'read', text: string, expansion?: number } | { kind: 'locate', text: string, paths: readonly DocumentPath[] }

/** Bounds of a document that is imported once; such as those of well-known APIs, which take some 10 s. */
export const largeYaml = { bytes: 8_388_608, ms: 180_000, heapMb: 3_072, expansion: 33_554_432 } as const
/** How long a thread waits for the next task, in milliseconds: a new one takes about 100 ms. */
const idleMs = 30_000
let idle: { thread: Worker, timer: NodeJS.Timeout } | undefined

/**
 * Reads a YAML text in a thread: YAML takes about a second per megabyte, which would hold up a process that
 * serves, and hostile texts take more time and memory than any text is worth. Both are bounded.
 *
 * @param timeMs how long it may take, in milliseconds.
 */
export async function readYaml (text: string, timeMs: number = manifestLimits.yamlMs): Promise<YamlReading> {
  if (Buffer.byteLength(text) > manifestLimits.yamlBytes) {
    return { ok: false, fault: { message: `larger than ${manifestLimits.yamlBytes} bytes; write it as JSON, or as several manifests` } }
  }
  return await readInThread({ kind: 'read', text }, timeMs)
}

/** Reads a YAML text of up to `largeYaml.bytes`, which somebody waits for at a terminal. */
export async function readLargeYaml (text: string): Promise<YamlReading> {
  return await readInThread({ kind: 'read', text, expansion: largeYaml.expansion }, largeYaml.ms, startThread(largeYaml.heapMb))
}

async function readInThread (task: YamlTask, timeMs: number, thread?: Worker): Promise<YamlReading> {
  try {
    return await runThread<YamlReading>(task, timeMs, thread)
  } catch (error) {
    return { ok: false, fault: { message: error instanceof Error ? error.message : String(error) } }
  }
}

/** Positions of values in a text that is YAML or JSON, as far as they can be found; none in a text that is too large. */
export async function locate (text: string, paths: readonly DocumentPath[]): Promise<Array<Position | undefined>> {
  const none = paths.map(() => undefined)
  if (paths.length === 0 || Buffer.byteLength(text) > manifestLimits.yamlBytes) return none
  try {
    return await runThread<Array<Position | undefined>>({ kind: 'locate', text, paths }, manifestLimits.yamlMs)
  } catch {
    // A finding without its position is better than no finding.
    return none
  }
}

/** A thread has one task at a time, so that no text waits for another. */
async function runThread<Answer> (task: YamlTask, timeMs: number, own?: Worker): Promise<Answer> {
  const thread = own ?? takeIdle() ?? startThread()
  const timer = setTimeout(() => { void thread.terminate() }, timeMs)
  try {
    thread.postMessage(task)
    const answer = await answerOf<Answer>(thread)
    if (own === undefined) keep(thread)
    return answer
  } finally {
    clearTimeout(timer)
    if (idle?.thread !== thread) await thread.terminate()
  }
}

function startThread (heapMb: number = manifestLimits.yamlHeapMb): Worker {
  // Sources are compiled, so the thread's file is JavaScript.
  const thread = new Worker(new URL('./yaml-thread.js', import.meta.url), {
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: heapMb }
  })
  // Who waits for an answer gets it too.
  thread.on('error', () => {})
  thread.once('exit', () => { if (idle?.thread === thread) takeIdle() })
  return thread
}

async function answerOf<Answer> (thread: Worker): Promise<Answer> {
  const settled = new AbortController()
  try {
    return await Promise.race([new Promise<Answer>(resolve => { thread.once('message', resolve) }), failureOf(thread, settled.signal)])
  } finally {
    settled.abort()
  }
}

async function failureOf (thread: Worker, signal: AbortSignal): Promise<never> {
  await once(thread, 'exit', { signal })
  throw new Error('takes too long to read')
}

/** An idle thread keeps no process alive. */
function keep (thread: Worker): void {
  if (idle !== undefined) return
  idle = { thread, timer: setTimeout(() => { takeIdle(); void thread.terminate() }, idleMs).unref() }
  thread.unref()
}

function takeIdle (): Worker | undefined {
  const taken = idle
  if (taken === undefined) return undefined
  idle = undefined
  clearTimeout(taken.timer)
  taken.thread.ref()
  return taken.thread
}
