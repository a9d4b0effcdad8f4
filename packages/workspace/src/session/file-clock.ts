import { randomUUID } from 'node:crypto'
import { closeSync, constants, fstatSync, futimesSync, openSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'

/** Tells the time as the file system of a directory does, which stamps changes with it: the clock of the machine may be another. */
export class FileClock {
  readonly #fd: number

  /** The file that it asks has no name any more: nothing of it is left, whatever ends the process. */
  constructor (dir: string) {
    const path = join(dir, `.clock.${randomUUID()}`)
    this.#fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600)
    unlinkSync(path)
  }

  /** In nanoseconds; what is changed from now on has a `ctime` that is not less. It grows by steps of a few milliseconds. */
  now (): bigint {
    futimesSync(this.#fd, 0, 0)
    return fstatSync(this.#fd, { bigint: true }).ctimeNs
  }

  close (): void {
    closeSync(this.#fd)
  }
}
