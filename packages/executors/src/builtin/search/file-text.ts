import { closeSync, constants, fstatSync, openSync, readSync, type PathLike } from 'node:fs'
import type { ServiceFiles } from '@toolyard/workspace'

/** A piece of a file that ends with a line, or where a line is longer than any piece. */
export interface TextBlock {
  text: string
  /** Number of its first line. */
  line: number
}

/** Bytes of a block, and thus of the longest line that is searched as one. */
const blockBytes = 1_048_576
const sniffBytes = 8_192
const lineFeed = 0x0a

export class FileText {
  readonly #fd: number
  readonly #buffer: Buffer
  readonly #size: number
  /** Whether it has a NUL byte near its start, as in `data.file_read`. */
  readonly binary: boolean
  /** Bytes in the buffer, and bytes of the file that were read. */
  #length = 0
  #position = 0

  private constructor (fd: number, buffer: Buffer, size: number) {
    this.#fd = fd
    this.#buffer = buffer
    this.#size = size
    this.#length = this.#fill(0)
    this.#position = this.#length
    this.binary = buffer.subarray(0, Math.min(sniffBytes, this.#length)).includes(0)
  }

  /** Opens a path that is safe to open; undefined for what can't be read, is no regular file, or is the service's. The caller closes it. */
  static open (path: PathLike, buffer: Buffer, service: ServiceFiles): FileText | undefined {
    let fd: number | undefined
    try {
      fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
      const stats = fstatSync(fd)
      if (stats.isFile() && !service.hasOpen(fd, stats)) return new FileText(fd, buffer, stats.size)
    } catch {}
    if (fd !== undefined) closeSync(fd)
    return undefined
  }

  /** A buffer that all files of one thread share. */
  static newBuffer (): Buffer {
    return Buffer.allocUnsafe(blockBytes)
  }

  /** The blocks in order; those that `mayMatch` refuses by their bytes are only counted. */
  * blocks (mayMatch: (bytes: Buffer) => boolean): Generator<TextBlock> {
    let line = 1
    while (this.#length > 0) {
      const end = this.#position >= this.#size ? this.#length : this.#lastLineEnd()
      const bytes = this.#buffer.subarray(0, end)
      if (mayMatch(bytes)) yield { text: bytes.toString('utf8').replaceAll('\r\n', '\n'), line }
      if (this.#position < this.#size) line += countLines(bytes)
      this.#buffer.copyWithin(0, end, this.#length)
      const kept = this.#length - end
      const read = this.#fill(kept)
      this.#position += read
      this.#length = kept + read
    }
  }

  close (): void {
    closeSync(this.#fd)
  }

  #lastLineEnd (): number {
    const at = this.#buffer.lastIndexOf(lineFeed, this.#length - 1)
    return at === -1 ? this.#length : at + 1
  }

  #fill (offset: number): number {
    const length = Math.min(this.#buffer.length - offset, this.#size - (this.#position))
    return length <= 0 ? 0 : readSync(this.#fd, this.#buffer, offset, length, this.#position)
  }
}

function countLines (bytes: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(lineFeed); at !== -1; at = bytes.indexOf(lineFeed, at + 1)) count += 1
  return count
}
