import { pino, type Logger } from 'pino'
import { printable } from './printable.ts'

export type { Logger }

/** The process's logger: JSON lines on stdout. `process` names the part of Toolyard (`api`, `worker`). */
export function createLogger (process: string, level: string): Logger {
  return pino({
    level,
    hooks: { streamWrite: printable },
    base: { process },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: ['req.headers["x-api-key"]', 'headers["x-api-key"]', 'req.headers.authorization', 'headers.authorization', '*.key', 'API_KEY', 'API_KEYS_JSON', 'CALLBACK_SECRET', '*.secret'], censor: '[redacted]' }
  })
}
