import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { MappedValue } from '@toolyard/manifests'
import type { ProcessPlan } from '@toolyard/sandbox'

/** Where a box shows the files of a call. */
const place = '/tempfiles'

export interface TempFiles {
  mounted: NonNullable<ProcessPlan['mounted']>
  /** As processes see it. */
  pathOf (arg: MappedValue): string
  remove (): Promise<void>
}

/** Writes each text into a file of its own, which a box shows read-only. */
export async function writeTempFiles (files: ReadonlyMap<MappedValue, string>, isBoxed: boolean): Promise<TempFiles> {
  if (files.size === 0) return { mounted: [], pathOf: () => '', remove: async () => {} }
  const source = await mkdtemp(join(tmpdir(), 'toolyard-values-'))
  const remove = async (): Promise<void> => { await rm(source, { recursive: true, force: true }) }
  const names = new Map([...files.keys()].map((arg, index) => [arg, `value-${index}`]))
  try {
    for (const [arg, text] of files) await writeFile(join(source, names.get(arg) ?? ''), text, { mode: 0o600 })
  } catch (error) {
    await remove()
    throw error
  }
  return {
    mounted: isBoxed ? [{ source, place }] : [],
    pathOf: arg => join(isBoxed ? place : source, names.get(arg) ?? ''),
    remove
  }
}
