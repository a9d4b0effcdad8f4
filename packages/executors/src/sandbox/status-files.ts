import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { BoxStatus } from '../process/box.ts'

/** Files without a name for what bubblewrap writes to its `--json-status-fd`, one after the other for many boxes. */
export interface StatusFiles {
  take (): BoxStatus & { fd: number }
  /** Closes those that no box has. */
  close (): void
}

/** Files that wait for a box. */
const kept = 8
/** Two short lines: the ids of the namespaces, and the exit code. */
const statusBytes = 2_048

/**
 * Makes status files in a directory. Files and not pipes: they can be read without waiting when the
 * process is to be ended, and cost no stream.
 */
export function createStatusFiles (directory: string): StatusFiles {
  let count = 0
  let closed = false
  const free = Array.from({ length: kept }, make)

  function make (): number {
    const file = join(directory, `status-${count++}`)
    const fd = openSync(file, 'wx+', 0o600)
    rmSync(file)
    return fd
  }

  /** bubblewrap writes the exit code last. Before that it may be about to write, or was never started. */
  function give (fd: number): void {
    const text = readText(fd)
    if (closed || free.length >= kept || parseStatus(text).exitCode === undefined) return closeSync(fd)
    // Truncated to nothing, ext4 would write it to the disk at once.
    writeSync(fd, ' '.repeat(text.length), 0)
    free.push(fd)
  }

  return {
    take () {
      const fd = free.pop() ?? make()
      return { fd, read: () => parseStatus(readText(fd)), close: () => { give(fd) } }
    },
    close () {
      closed = true
      for (const fd of free.splice(0)) closeSync(fd)
    }
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
