import { Worker } from 'node:worker_threads'
import type { DocumentPath } from '../finding/finding.ts'
import { manifestLimits } from '../tool/limits.ts'
import type { Position, YamlReading } from './yaml-text.ts'

/** What a thread is started for. */
export type YamlTask = { kind: 'read', text: string } | { kind: 'locate', text: string, paths: readonly DocumentPath[] }

/**
 * Reads a YAML text in a thread of its own: YAML takes about a second per megabyte, which would hold up a process that
 * serves, and hostile texts take more time and memory than any text is worth. Both are bounded.
 */
export async function readYaml (text: string): Promise<YamlReading> {
  if (Buffer.byteLength(text) > manifestLimits.yamlBytes) {
    return { ok: false, fault: { message: `larger than ${manifestLimits.yamlBytes} bytes; write it as JSON, or as several manifests` } }
  }
  try {
    return await runThread<YamlReading>({ kind: 'read', text })
  } catch (error) {
    return { ok: false, fault: { message: error instanceof Error ? error.message : String(error) } }
  }
}

/** Positions of values in a text that is YAML or JSON, as far as they can be found; none in a text that is too large. */
export async function locate (text: string, paths: readonly DocumentPath[]): Promise<Array<Position | undefined>> {
  const none = paths.map(() => undefined)
  if (paths.length === 0 || Buffer.byteLength(text) > manifestLimits.yamlBytes) return none
  try {
    return await runThread<Array<Position | undefined>>({ kind: 'locate', text, paths })
  } catch {
    // A finding without its position is better than no finding.
    return none
  }
}

async function runThread<Answer> (task: YamlTask): Promise<Answer> {
  // Sources are compiled, so the thread's file is JavaScript.
  const thread = new Worker(new URL('./yaml-thread.js', import.meta.url), {
    workerData: task,
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: manifestLimits.yamlHeapMb }
  })
  const timer = setTimeout(() => { void thread.terminate() }, manifestLimits.yamlMs)
  try {
    return await new Promise<Answer>((resolve, reject) => {
      thread.once('message', resolve)
      thread.once('error', reject)
      thread.once('exit', () => { reject(new Error('takes too long to read')) })
    })
  } finally {
    clearTimeout(timer)
    await thread.terminate()
  }
}
