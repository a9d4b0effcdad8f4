import { cp, mkdir, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { bundledSamples } from '@toolyard/runtime'

/** Fills `directory` with a copy of the sample workspace when it doesn't exist. Returns whether it did. */
export async function provideWorkspace (directory: string): Promise<boolean> {
  if (await exists(directory)) return false
  await mkdir(dirname(directory), { recursive: true })
  // Copied beside it first: half a copy would pass for a workspace at the next start.
  const draft = `${directory}.${process.pid}.tmp`
  await rm(draft, { recursive: true, force: true })
  await cp(bundledSamples('workspace'), draft, { recursive: true })
  await rename(draft, directory)
  return true
}

async function exists (path: string): Promise<boolean> {
  return await stat(path).then(() => true, (error: NodeJS.ErrnoException) => error.code !== 'ENOENT')
}
