import { isRecord } from '@toolyard/contract/terms'
import pretty from 'pino-pretty'

interface PrettyOptions {
  colorize: boolean
  /** Only warnings and worse, each with what happened and why. */
  brief?: boolean
}

/**
 * Makes a line of the JSON log readable, with pino-pretty; a line that is something else, such as a part of a stack trace, stays
 * as it is, behind the name. `name` is the part of Toolyard that printed it, where the line doesn't say so itself.
 *
 * @returns what is to be shown, without the line's end; undefined for a line that is left out
 */
export function prettyLines ({ colorize, brief = false }: PrettyOptions): (line: string, name?: string) => string | undefined {
  const shown = pretty.prettyFactory({
    colorize,
    ignore: 'pid,hostname,process',
    translateTime: 'SYS:HH:MM:ss.l',
    ...brief ? { minimumLevel: 'warn', hideObject: true, messageFormat: briefly } : { singleLine: true }
  })
  return (line, name) => {
    const record = parse(line)
    if (record === undefined) return `${name === undefined ? '' : `${name}: `}${line.replace(/\n$/, '')}`
    // It gives undefined for a line below the least level; its type doesn't say so.
    const text: unknown = shown({ ...record, name: record['process'] ?? name })
    return typeof text === 'string' ? text.trimEnd() : undefined
  }
}

function briefly ({ msg, err }: Record<string, unknown>): string {
  return [msg, isRecord(err) ? err['message'] : ''].filter(part => typeof part === 'string' && part !== '').join(': ')
}

function parse (line: string): Record<string, unknown> | undefined {
  if (!line.startsWith('{')) return undefined
  try {
    const record: unknown = JSON.parse(inert(line))
    return isRecord(record) && typeof record['level'] === 'number' ? record : undefined
  } catch {
    return undefined
  }
}

/**
 * JSON whose texts still have as escapes what a terminal would take for a command, also once they are parsed. The line went
 * through `printable`, so that JSON's escapes are all there is.
 */
function inert (json: string): string {
  return json.replace(/\\(?:u[0-9a-f]{4}|.)/gi, escape => /^\\[ubfr]/i.test(escape) ? `\\${escape}` : escape)
}
