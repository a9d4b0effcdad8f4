import { closeSync, constants, openSync, readSync } from 'node:fs'

const starts = [
  Buffer.from('#!'),
  Buffer.from('\x7fELF', 'latin1'),
  // macOS: 64 and 32 bits, universal.
  Buffer.from('cffaedfe', 'hex'), Buffer.from('cefaedfe', 'hex'), Buffer.from('cafebabe', 'hex'),
  // Windows, or Linux with a handler for it.
  Buffer.from('MZ')
]

/**
 * Whether a file starts as programs do. libc hands a file that the kernel does not recognize to `/bin/sh`, and no
 * shell may come into it. A file that can't be opened counts as a program: its start will say what is wrong.
 */
export function hasProgramFormat (file: string): boolean {
  const head = headOf(file, 4)
  return head === undefined || starts.some(start => head.subarray(0, start.length).equals(start))
}

/** Whether the kernel starts a file by way of an interpreter that its first line names. */
export function isScript (file: string): boolean {
  return headOf(file, 2)?.toString('latin1') === '#!'
}

/** The first bytes of a file; undefined for one that can't be read. */
export function headOf (file: string, bytes: number): Buffer | undefined {
  const head = Buffer.alloc(bytes)
  try {
    // Without O_NONBLOCK the open of a FIFO would wait for a writer.
    const fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      return head.subarray(0, readSync(fd, head, 0, head.length, 0))
    } finally {
      closeSync(fd)
    }
  } catch {
    return undefined
  }
}
