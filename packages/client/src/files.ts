import { pathSegment, requireText } from './http/path-segment.ts'
import type { WaitOptions } from './jobs.ts'
import { list, number, record, text } from './http/shape.ts'
import type { FileBody, Transport } from './http/transport.ts'
import type { FileList, PutFile, Unpacked } from './http/wire.ts'

/** Which part of a listing is asked for. */
export interface FileQuery {
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
}

/** Files of one session, or of the shared workspace. Paths are from its top, with `/`. All methods throw a ToolyardError. */
export class Files {
  readonly #transport: Transport
  readonly #base: string

  constructor (transport: Transport, base: string) {
    this.#transport = transport
    this.#base = base
  }

  /** Puts a file in its place as a whole; missing directories are made. */
  async put (path: string, content: FileBody, { signal }: WaitOptions = {}): Promise<PutFile> {
    return (await this.#transport.send<{ file: PutFile }>({ method: 'PUT', path: this.#at(path), file: bodyOf(content), signal }, { file: record({ path: text, sha256: text, size: number }) })).file
  }

  /** The answer with a file, whose body is read as it comes: `arrayBuffer()`, `text()`, or `body`. */
  async get (path: string, { signal }: WaitOptions = {}): Promise<Response> {
    return await this.#transport.fetch({ method: 'GET', path: this.#at(path), signal })
  }

  /** Entries by name. */
  async list (path = '', query: FileQuery = {}, { signal }: WaitOptions = {}): Promise<FileList> {
    return await this.#transport.send<FileList>({ method: 'GET', path: this.#at(path), query: { ...query, list: 'true' }, signal }, { entries: list(record({ name: text, path: text, type: text, size: number, modified_at: text })) })
  }

  /** Removes a file, or a directory: an empty one, or with `recursive` all that is in it. */
  async remove (path: string, { recursive, signal }: WaitOptions & { recursive?: boolean | undefined } = {}): Promise<void> {
    await this.#transport.change({ method: 'DELETE', path: this.#at(path), query: recursive === true ? { recursive: 'true' } : {}, signal }, {}, 'NOT_FOUND')
  }

  /** The answer with all of a directory, as a tar archive. */
  async getArchive (path = '', { signal }: WaitOptions = {}): Promise<Response> {
    return await this.#transport.fetch({ method: 'GET', path: this.#at(path), query: { archive: 'tar' }, signal })
  }

  /** Unpacks a tar archive into a directory. What came before a fault stays. */
  async putArchive (path: string, content: FileBody, { signal }: WaitOptions = {}): Promise<Unpacked> {
    const request = { method: 'PUT', path: this.#at(path), query: { archive: 'tar' }, file: bodyOf(content), signal } as const
    const archive = record({ path: text, files: number, directories: number, bytes: number })
    return (await this.#transport.send<{ archive: Unpacked }>(request, { archive })).archive
  }

  #at (path: string): string {
    requireText(path, 'The path of a file')
    const names = path.split('/').filter(name => name !== '')
    const end = names.length > 0 && path.endsWith('/') ? '/' : ''
    return `${[this.#base, ...names.map(pathSegment)].join('/')}${end}`
  }
}

/** `fetch` writes anything else as a text, such as `[object Object]`. */
function bodyOf (content: FileBody): FileBody {
  const isBytes = ArrayBuffer.isView(content) || [ArrayBuffer, Blob, ReadableStream].some(kind => content instanceof kind)
  if (isBytes || typeof content === 'string' || (typeof content === 'object' && content !== null && Symbol.asyncIterator in content)) return content
  throw new TypeError('The content of a file is a string, bytes, a Blob or a ReadableStream')
}
