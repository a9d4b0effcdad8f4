import { existsSync, readdirSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Cleanup } from './cleanup.ts'
import { ensureTestProgram } from './test-program.ts'

/** A clock that differs from the machine's; the monotonic clock stays as it is, as on a machine whose clock is set. */
interface ShiftedClock {
  /** For the processes that go by it. */
  env: Record<string, string>
  /** Sets it: seconds before or after the machine's. */
  set: (sec: number) => Promise<void>
}

/** Finds libfaketime. @returns makes clocks; where there is none, `missing` is the reason to skip a test with */
export async function findClocks (): Promise<{ shift: (t: Cleanup, sec: number) => Promise<ShiftedClock> } | { missing: string }> {
  const found = await ensureTestProgram('faketime')
  if ('missing' in found) return found
  const library = readdirSync('/usr/lib').map(name => `/usr/lib/${name}/faketime/libfaketimeMT.so.1`).find(existsSync)
  if (library === undefined) return { missing: 'There is no libfaketimeMT.so.1 below /usr/lib.' }
  return {
    shift: async (t, sec) => {
      const dir = await mkdtemp(join(tmpdir(), 'toolyard-clock-'))
      t.teardown(() => rm(dir, { recursive: true, force: true }))
      const file = join(dir, 'shift')
      const set = async (to: number): Promise<void> => { await writeFile(file, `${to < 0 ? '' : '+'}${to}s\n`) }
      await set(sec)
      return { set, env: { LD_PRELOAD: library, FAKETIME_TIMESTAMP_FILE: file, FAKETIME_NO_CACHE: '1', FAKETIME_DONT_FAKE_MONOTONIC: '1', DONT_FAKE_MONOTONIC: '1' } }
    }
  }
}
