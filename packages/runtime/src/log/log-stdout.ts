import { errorCode } from '@toolyard/contract/terms'
import { writeSync } from 'node:fs'

/** How long a reader that is behind is waited for, until it is tried again, in milliseconds. */
const pauseMs = 20
const pause = new Int32Array(new SharedArrayBuffer(4))

/**
 * Stdout for lines of the log. What can't be written, as on a full disk, is lost: pino's own stream would try it again for
 * ever, and hold up the process. Who reads slowly is waited for.
 */
export function openStdout (): { write: (text: string) => void } {
  // Of a line of which a part was written.
  let isCut = false
  return {
    write: text => {
      let rest = Buffer.from(isCut ? `\n${text}` : text)
      try {
        while (rest.length > 0) rest = rest.subarray(writeSome(rest))
        isCut = false
      } catch {
        isCut ||= rest.length < Buffer.byteLength(text)
      }
    }
  }
}

function writeSome (bytes: Buffer): number {
  try {
    return writeSync(1, bytes)
  } catch (error) {
    if (errorCode(error) !== 'EAGAIN') throw error
    Atomics.wait(pause, 0, 0, pauseMs)
    return 0
  }
}
