import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ensureTestProgram } from '../support/test-program.ts'

/** Sets the clocks of processes apart, and lets them jump while they run. */
export interface Clocks {
  /** Settings for a process whose clock is this many seconds ahead of the machine's; it jumps when `set` is called with its name. */
  envFor: (name: string, seconds: number) => Record<string, string>
  set: (name: string, seconds: number) => void
}

const libraries = ['/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1', '/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1']

/**
 * Clocks by libfaketime. Only the time of day is shifted: intervals are measured on another clock.
 *
 * @returns the reason where the machine has none
 */
export async function openClocks (dir: string): Promise<Clocks | string> {
  const program = await ensureTestProgram('faketime')
  if ('missing' in program) return program.missing
  const library = libraries.find(path => existsSync(path))
  if (library === undefined) return `none of ${libraries.join(', ')} is there`
  const fileOf = (name: string): string => join(dir, `clock-${name}`)
  const set = (name: string, seconds: number): void => { writeFileSync(fileOf(name), `${seconds < 0 ? '-' : '+'}${Math.abs(seconds)}s\n`) }
  return {
    set,
    envFor: (name, seconds) => {
      set(name, seconds)
      return { LD_PRELOAD: library, FAKETIME_TIMESTAMP_FILE: fileOf(name), FAKETIME_CACHE_DURATION: '1', FAKETIME_DONT_FAKE_MONOTONIC: '1', DONT_FAKE_MONOTONIC: '1' }
    }
  }
}
