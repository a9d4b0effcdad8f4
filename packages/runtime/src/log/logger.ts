import { pino, type DestinationStream, type Logger } from 'pino'
import { printable } from './printable.ts'
import { errorCode } from '@toolyard/contract/terms'
import { writeSync } from 'node:fs'

export type { Logger }

/** The process's logger: JSON lines, on stdout where nothing else is said. `process` names the part of Toolyard (`api`, `worker`). */
export function createLogger (process: string, level: string, output: DestinationStream = openStdout()): Logger {
  return pino({
    level,
    hooks: { streamWrite: printable },
    base: { process },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: ['req.headers["x-api-key"]', 'headers["x-api-key"]', 'req.headers.authorization', 'headers.authorization', '*.key', 'API_KEY', 'API_KEYS_JSON', 'CALLBACK_SECRET', '*.secret'], censor: '[redacted]' }
  }, output)
}

/** Stdout for lines of the log: as they are, and readable for people where it is a terminal. */
export async function openLogOutput (): Promise<DestinationStream> {
  const stdout = openStdout()
  if (!process.stdout.isTTY) return stdout
  // It is loaded where it is used alone: workers stay small.
  const { prettyLines } = await import('./pretty.ts')
  const readable = prettyLines({ colorize: process.stdout.hasColors() })
  return { write: line => { stdout.write(`${readable(line) ?? ''}\n`) } }
}

/** How long a reader that is behind is waited for, until it is tried again, in milliseconds. */
const pauseMs = 20
const pause = new Int32Array(new SharedArrayBuffer(4))

/**
 * Stdout for lines of the log. What can't be written, as on a full disk, is lost: pino's own stream would try it again for
 * ever, and hold up the process. Who reads slowly is waited for.
 */
function openStdout (): { write: (text: string) => void } {
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
