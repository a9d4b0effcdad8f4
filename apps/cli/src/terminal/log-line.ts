const warning = 40
const levelNames = new Map([[40, 'warning'], [50, 'error'], [60, 'fatal']])

interface LogRecord {
  level: number
  msg?: unknown
  err?: { message?: unknown }
}

/**
 * Shortens a line that a part of Toolyard printed for the terminal: of its JSON log, warnings and errors become
 * `worker error: message: cause`; anything else, such as a stack trace, stays as it is.
 *
 * @returns undefined for a log line below a warning
 */
export function terminalLine (name: string, line: string): string | undefined {
  const record = parse(line)
  if (record === undefined) return `${name}: ${line}`
  if (record.level < warning) return undefined
  const cause = typeof record.err?.message === 'string' ? record.err.message : ''
  const text = [record.msg, cause].filter(part => typeof part === 'string' && part !== '').join(': ')
  return `${name} ${levelNames.get(record.level) ?? 'warning'}: ${text}`
}

function parse (line: string): LogRecord | undefined {
  if (!line.startsWith('{')) return undefined
  try {
    const record = JSON.parse(line) as Partial<LogRecord>
    return typeof record.level === 'number' ? record as LogRecord : undefined
  } catch {
    return undefined
  }
}
