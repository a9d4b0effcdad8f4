import { blockBytes, checkExtendedSize, isExtension, malformed, readExtension, readHeader, type Extension, type TarHeader } from './tar-header.ts'

/** One entry of an archive that is still coming. */
export interface TarEntry extends TarHeader {
  /** To be read before the next entry is asked for; what isn't read is left out. */
  content: AsyncIterable<Uint8Array>
}

/** Headers in a row that describe one entry. */
const maxExtensions = 8

/**
 * Reads an archive as it comes. Memory holds the headers of one entry and one piece of its content, and no more.
 *
 * @throws HttpError `VALIDATION_ERROR` for what is no whole archive; what the pieces throw.
 */
export async function * tarEntries (pieces: AsyncIterable<Buffer>): AsyncGenerator<TarEntry> {
  const source = new Source(pieces)
  try {
    yield * entriesOf(source)
  } finally {
    await source.end()
  }
}

async function * entriesOf (source: Source): AsyncGenerator<TarEntry> {
  let extension: Extension = {}
  for (let extensions = 0; ;) {
    const block = await source.take(blockBytes)
    if (isEmpty(block)) {
      if (!isEmpty(await source.take(blockBytes))) throw malformed('something follows its end')
      return
    }
    const header = readHeader(block)
    if (isExtension(header.type)) {
      extensions += 1
      if (extensions > maxExtensions) throw malformed('an entry has too many headers')
      checkExtendedSize(header.size)
      const content = await source.take(header.size)
      await source.skip(restOf(header.size))
      const told = readExtension(header.type, content)
      extension = { ...extension, ...told }
      continue
    }
    const size = header.type === '5' ? 0 : extension.size ?? header.size
    const end = source.position + size
    yield { ...header, name: extension.name ?? header.name, size, content: source.until(end) }
    await source.skip(end - source.position + restOf(size))
    extension = {}
    extensions = 0
  }
}

/** Bytes that come in pieces, as many at a time as are asked for. */
class Source {
  readonly #pieces: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)
  position = 0

  constructor (pieces: AsyncIterable<Buffer>) {
    this.#pieces = pieces[Symbol.asyncIterator]()
  }

  /** Exactly so many bytes. */
  async take (bytes: number): Promise<Buffer> {
    const parts: Buffer[] = []
    for (let missing = bytes; missing > 0;) {
      const part = await this.#some(missing)
      parts.push(part)
      missing -= part.length
    }
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts)
  }

  async skip (bytes: number): Promise<void> {
    for (let missing = bytes; missing > 0;) missing -= (await this.#some(missing)).length
  }

  /** The bytes up to a position. */
  async * until (end: number): AsyncGenerator<Buffer> {
    while (this.position < end) yield await this.#some(end - this.position)
  }

  /** Nothing more is asked for. */
  async end (): Promise<void> {
    await this.#pieces.return?.()
  }

  async #some (most: number): Promise<Buffer> {
    while (this.#rest.length === 0) {
      const next = await this.#pieces.next()
      if (next.done === true) throw malformed('it is cut off')
      this.#rest = next.value
    }
    const part = this.#rest.subarray(0, most)
    this.#rest = this.#rest.subarray(part.length)
    this.position += part.length
    return part
  }
}

function isEmpty (block: Buffer): boolean {
  return block.every(byte => byte === 0)
}

function restOf (bytes: number): number {
  return (blockBytes - bytes % blockBytes) % blockBytes
}
