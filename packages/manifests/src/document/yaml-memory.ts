import { createHash } from 'node:crypto'
import { readYaml } from './yaml.ts'
import type { YamlReading } from './yaml-text.ts'

/** Reads YAML, and remembers what it read by the hash of the text: a reload reads only what changed. */
export interface YamlMemory {
  read (text: string): Promise<YamlReading>
  /** For the memory of the next load. */
  readonly readings: ReadonlyMap<string, YamlReading>
}

/**
 * A memory for one load.
 *
 * @param known what the load before has read; what this load doesn't ask for is forgotten with it.
 */
export function createYamlMemory (known: ReadonlyMap<string, YamlReading> = new Map()): YamlMemory {
  const readings = new Map<string, YamlReading>()
  return {
    readings,
    read: async text => {
      const hash = createHash('sha256').update(text).digest('base64')
      const reading = readings.get(hash) ?? known.get(hash) ?? await readYaml(text)
      readings.set(hash, reading)
      return reading
    }
  }
}
