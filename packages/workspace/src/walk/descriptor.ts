import { closeSync, fstatSync, openSync, read, readSync, type Stats } from 'node:fs'
import { promisify } from 'node:util'

/*
 * Looking up, opening and closing are system calls of a few microseconds on any file system that a workspace is on; a
 * trip to the thread pool and back costs ten times as much. So they are made at once, and so are short reads. What can
 * take longer, long reads, writes, listings, goes to the thread pool.
 */

/** Bytes that are read at once. */
const shortRead = 65_536
const readInPool = promisify(read)

/** An open file or directory; who opens it closes it. */
export class Descriptor {
  readonly fd: number
  #closed = false

  /** @throws ErrnoException of `open`. */
  constructor (path: string | Buffer, flags: number) {
    this.fd = openSync(path, flags)
  }

  stat (): Stats {
    return fstatSync(this.fd)
  }

  /** Reads at most `length` bytes from `position` into the buffer at `offset`; how many there were, 0 at the end. */
  async read (buffer: Buffer, offset: number, length: number, position: number): Promise<number> {
    if (length <= shortRead) return readSync(this.fd, buffer, offset, length, position)
    return (await readInPool(this.fd, buffer, offset, length, position)).bytesRead
  }

  /** Once: by a second time the number may stand for another file. */
  close (): void {
    if (this.#closed) return
    this.#closed = true
    closeSync(this.fd)
  }
}
