import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs'

/**
 * What the stdin, stdout and stderr of a process lead to: a file and two FIFOs, none of which has a name any more. One
 * call after the other has it to itself.
 */
export interface Channel {
  /**
   * Writes what is to be read from stdin, and opens this process's ends.
   *
   * @returns undefined when an earlier call has it still open, or has changed it: nobody can use it any more.
   */
  open (input: string): ChannelEnds | undefined
  /** Frees the disk of what a call has written. */
  clear (): void
  close (): void
}

/** Both ends of a channel, for one call. */
export interface ChannelEnds {
  /** Paths by which a process of this user opens the ends of the call: stdin for reading, the other two for writing. */
  paths: readonly [stdin: string, stdout: string, stderr: string]
  /** Descriptors to read stdout and stderr from, which don't block; whoever opened the channel closes them. */
  reading: readonly [stdout: number, stderr: number]
}

/** Opens a FIFO as a place, neither for reading nor for writing. Linux only: Node has no name for it. */
const O_PATH = 0o10000000
const permissions = 0o600
/** What a free file may hold. Truncated to nothing, it would be written to the disk at once by ext4. */
const keptBytes = 65_536

/** Opens the FIFOs at two paths, and a new file at a third. All three may be removed then. */
export function openChannel (files: { stdin: string, stdout: string, stderr: string }): Channel {
  // A file: who opens a FIFO by the path of its descriptor waits for somebody to write, when all is written.
  const all = openAll([[files.stdin, 'wx+'], [files.stdout, O_PATH], [files.stderr, O_PATH]])
  const [stdin = -1, stdout = -1, stderr = -1] = all
  return {
    open (input) {
      if (all.some(isChanged)) return undefined
      writeInput(stdin, Buffer.from(input))
      const reading = openReading(stdout, stderr)
      return reading === undefined ? undefined : { paths: [input === '' ? '/dev/null' : pathOf(stdin), pathOf(stdout), pathOf(stderr)], reading }
    },
    clear () { if (fstatSync(stdin).size > keptBytes) ftruncateSync(stdin, 1) },
    close () { for (const fd of all) closeSync(fd) }
  }
}

function pathOf (fd: number): string {
  return `/proc/${process.pid}/fd/${fd}`
}

/** A tool owns its ends like any file of the user, and may take permissions away. */
function isChanged (fd: number): boolean {
  return (fstatSync(fd).mode & 0o7777) !== permissions
}

function writeInput (fd: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at, bytes.length - at, at)
  if (bytes.length > 0 && fstatSync(fd).size > bytes.length) ftruncateSync(fd, bytes.length)
}

function openReading (stdout: number, stderr: number): ChannelEnds['reading'] | undefined {
  const flags = constants.O_RDONLY | constants.O_NONBLOCK
  const [first = -1, second = -1] = openAll([[pathOf(stdout), flags], [pathOf(stderr), flags]])
  let usable = false
  try {
    usable = isUnused(first) && isUnused(second)
  } finally {
    if (!usable) for (const fd of [first, second]) closeSync(fd)
  }
  return usable ? [first, second] : undefined
}

/** All of them, or none: the process may be out of descriptors. */
function openAll (places: ReadonlyArray<readonly [path: string, flags: string | number]>): number[] {
  const opened: number[] = []
  try {
    for (const [path, flags] of places) opened.push(openSync(path, flags, permissions))
    return opened
  } catch (error) {
    for (const fd of opened) closeSync(fd)
    throw error
  }
}

/** Nobody else has the FIFO open, so that nothing is in it: it reads as ended. */
function isUnused (end: number): boolean {
  try {
    return readSync(end, Buffer.alloc(1), 0, 1, null) === 0
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return false
    throw error
  }
}
