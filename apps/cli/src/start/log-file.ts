import { closeSync, mkdirSync, openSync, renameSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

/** A file that log lines are appended to; at `maxBytes` it is set aside as `NAME.1`, in place of the one before. */
export class LogFile {
  readonly #path: string
  /** Its path, for those who are told to read it. */
  readonly place: string
  readonly #maxBytes: number
  #descriptor: number
  #bytes: number

  constructor (path: string, maxBytes = 10 * 2 ** 20) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    this.#path = path
    this.place = path
    this.#maxBytes = maxBytes
    this.#descriptor = openSync(path, 'a', 0o600)
    this.#bytes = statSync(path).size
  }

  /** Appends text as it is. A full disk loses log lines, and nothing else. */
  write (text: string): void {
    try {
      if (this.#bytes >= this.#maxBytes) this.#setAside()
      this.#bytes += writeSync(this.#descriptor, text)
    } catch {
      // There is no place left to tell of it.
    }
  }

  #setAside (): void {
    renameSync(this.#path, `${this.#path}.1`)
    closeSync(this.#descriptor)
    this.#descriptor = openSync(this.#path, 'a', 0o600)
    this.#bytes = 0
  }
}
