import { execFile } from 'node:child_process'
import { findOnPath } from '../process/plan/find-program.ts'

/** A bubblewrap program and what its version can do. */
export interface Bubblewrap {
  /** Absolute path. */
  path: string
  /** Whether it knows `--disable-userns` (0.8.0). */
  disableUserns: boolean
  /** Whether it knows `--size` for its temporary file systems (0.7.0). */
  size: boolean
}

const helpTimeoutMs = 5_000

/** Finds `bwrap` on the PATH of `env`; undefined when there is none that runs. */
export async function findBubblewrap (env: NodeJS.ProcessEnv): Promise<Bubblewrap | undefined> {
  const path = findOnPath('bwrap', env['PATH'])
  if (path === undefined) return undefined
  const help = await new Promise<string | undefined>(resolve => {
    execFile(path, ['--help'], { env: {}, timeout: helpTimeoutMs }, (error, stdout, stderr) => { resolve(error === null ? stdout + stderr : undefined) })
  })
  if (help === undefined) return undefined
  return { path, disableUserns: help.includes('--disable-userns'), size: help.includes('--size') }
}
