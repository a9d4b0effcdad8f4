import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BoxStatus } from '../process/plan/box.ts'

/** Files for what bubblewrap writes to its `--json-status-fd`, one for each box. */
export interface StatusFiles {
  take (): BoxStatus & { path: string }
}

/**
 * Makes status files in a directory. Files and not pipes: they can be read without waiting when the
 * process is to be ended, and cost no stream.
 */
export function createStatusFiles (directory: string): StatusFiles {
  let count = 0
  return {
    take () {
      const path = join(directory, `status-${count++}`)
      writeFileSync(path, '', { flag: 'wx', mode: 0o600 })
      return { path, read: () => parseStatus(readFileSync(path, 'latin1')), close: () => { rmSync(path, { force: true }) } }
    }
  }
}

/** `{ "child-pid": 12, ... }`, then `{ "exit-code": 0 }`; a line may be half written. */
function parseStatus (text: string): ReturnType<BoxStatus['read']> {
  const exitCode = /"exit-code": (\d+)\s/.exec(text)?.[1]
  return exitCode === undefined ? {} : { exitCode: Number(exitCode) }
}
