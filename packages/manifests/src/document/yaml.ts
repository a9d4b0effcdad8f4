import { ThreadError, Threads, type ThreadOptions } from '@toolyard/runtime/threads'
import type { DocumentPath } from '../finding/finding.ts'
import { manifestLimits } from '../tool/limits.ts'
import { withDigits } from './large-integers.ts'
import type { Position, YamlReading } from './yaml-text.ts'

export interface ReadTask { text: string, expansion?: number }
export interface LocateTask { text: string, paths: readonly DocumentPath[] }

/** Bounds of a document that is imported once; such as those of well-known APIs, which take some 10 s. */
export const largeYaml = { bytes: 8_388_608, ms: 180_000, heapMb: 3_072, expansion: 33_554_432 } as const
const script = new URL('./yaml-thread.js', import.meta.url)
/**
 * A thread has one task at a time; a new one takes about 100 ms. A text may take hundreds of megabytes, so those of one owner wait for
 * one another, and not for those of others.
 */
const threads = new Threads(script, undefined, { memoryMb: manifestLimits.yamlHeapMb, maxIdle: 1, mostOfOwner: 2 })

export interface YamlOptions {
  /** Milliseconds that it may take. */
  ms?: number
  /** Values, and UTF-16 units of texts, that it may hold once its aliases are followed. */
  expansion?: number
  /** Whose text it is; nobody's is a manifest's. */
  owner?: string
  signal?: AbortSignal
}

/**
 * Reads a YAML text in a thread: YAML takes about a second per megabyte, which would hold up a process that
 * serves, and hostile texts take more time and memory than any text is worth. Both are bounded.
 *
 * @throws the reason of the signal.
 */
export async function readYaml (text: string, { expansion, ms = manifestLimits.yamlMs, ...whose }: YamlOptions = {}): Promise<YamlReading> {
  if (Buffer.byteLength(text) > manifestLimits.yamlBytes) {
    return { ok: false, fault: { message: `larger than ${manifestLimits.yamlBytes} bytes; write it as JSON, or as several manifests` } }
  }
  return await readInThread({ text, ...expansion !== undefined && { expansion } }, { ms, ...whose }, threads)
}

/** Reads a YAML text of up to `largeYaml.bytes`, which somebody waits for at a terminal. */
export async function readLargeYaml (text: string): Promise<YamlReading> {
  const { expansion, ms, heapMb } = largeYaml
  return await readInThread({ text, expansion }, { ms }, new Threads(script, undefined, { memoryMb: heapMb, maxIdle: 0 }))
}

async function readInThread (task: ReadTask, options: ThreadOptions, pool: Threads): Promise<YamlReading> {
  try {
    const reading = await pool.run<YamlReading>({ kind: 'read', task }, options)
    return reading.ok && reading.large === true ? { ...reading, value: withDigits(reading.value) } : reading
  } catch (error) {
    options.signal?.throwIfAborted()
    return { ok: false, fault: { message: error instanceof ThreadError && error.reason === 'thrown' ? error.message : 'takes too long to read' } }
  }
}

/** Positions of values in a text that is YAML or JSON, as far as they can be found; none in a text that is too large. */
export async function locate (text: string, paths: readonly DocumentPath[]): Promise<Array<Position | undefined>> {
  const none = paths.map(() => undefined)
  if (paths.length === 0 || Buffer.byteLength(text) > manifestLimits.yamlBytes) return none
  try {
    return await threads.run<Array<Position | undefined>>({ kind: 'locate', task: { text, paths } }, { ms: manifestLimits.yamlMs })
  } catch {
    // A finding without its position is better than no finding.
    return none
  }
}
