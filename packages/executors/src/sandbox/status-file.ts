import { closeSync, openSync, readSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { BoxStatus } from '../process/box.ts'

/** Two short lines: the ids of the namespaces, and the exit code. */
const statusBytes = 2_048

/**
 * Opens a nameless file for what bubblewrap writes to its `--json-status-fd`. A file and not a pipe: it can be read
 * without waiting when the process is to be ended, and costs no stream.
 */
export function openStatusFile (directory: string): BoxStatus & { fd: number } {
  const file = join(directory, `status-${process.hrtime.bigint()}`)
  const fd = openSync(file, 'wx+', 0o600)
  rmSync(file)
  return {
    fd,
    read: () => parseStatus(readText(fd)),
    close: () => { closeSync(fd) }
  }
}

function readText (fd: number): string {
  const buffer = Buffer.allocUnsafe(statusBytes)
  return buffer.toString('latin1', 0, readSync(fd, buffer, 0, statusBytes, 0))
}

/** `{ "child-pid": 12, ... }`, then `{ "exit-code": 0 }`; a line may be half written. */
function parseStatus (text: string): ReturnType<BoxStatus['read']> {
  const init = /"child-pid": (\d+)[,\s]/.exec(text)?.[1]
  const exitCode = /"exit-code": (\d+)\s/.exec(text)?.[1]
  return {
    ...(init === undefined ? {} : { init: Number(init) }),
    ...(exitCode === undefined ? {} : { exitCode: Number(exitCode) })
  }
}
