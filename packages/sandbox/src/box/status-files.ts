import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BoxStatus } from '../process/plan/box.ts'

/** Files for what bubblewrap writes to its `--json-status-fd`, one for each box. */
export interface StatusFiles {
  /** @param texts what the process in the box is handed, each in a file of its own */
  take (texts?: readonly string[]): BoxStatus & { path: string, handed: readonly string[] }
}

/**
 * More than bubblewrap writes. The file has its room from the beginning: on a disk that is full by the end of a call, nobody
 * would hear how that ended.
 */
const room = Buffer.alloc(1_024)

/**
 * Makes status files in a directory. Files and not pipes: they can be read without waiting when the
 * process is to be ended, and cost no stream.
 *
 * @throws ENOSPC from `take`
 */
export function createStatusFiles (directory: string): StatusFiles {
  let count = 0
  return {
    take (texts = []) {
      const path = join(directory, `status-${count++}`)
      const handed = texts.map((_, index) => `${path}-handed-${index}`)
      writeFileSync(path, room, { flag: 'wx', mode: 0o600 })
      for (const [index, file] of handed.entries()) writeFileSync(file, texts[index] ?? '', { flag: 'wx', mode: 0o600 })
      const remove = (files: readonly string[]): void => { for (const file of files) rmSync(file, { force: true }) }
      return {
        path,
        handed,
        read: () => parseStatus(readFileSync(path, 'latin1')),
        started () { remove(handed) },
        close () { remove([path, ...handed]) }
      }
    }
  }
}

/** `{ "child-pid": 12, ... }`, then `{ "exit-code": 0 }`; a line may be half written. */
function parseStatus (text: string): ReturnType<BoxStatus['read']> {
  const exitCode = /"exit-code": (\d+)\s/.exec(text)?.[1]
  return exitCode === undefined ? {} : { exitCode: Number(exitCode) }
}
