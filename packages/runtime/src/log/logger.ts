import { pino, type DestinationStream, type Logger } from 'pino'
import { printable } from './printable.ts'
import { openStdout } from './stdout.ts'

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
