import { appendFile, closeSync, fstatSync, mkdirSync, openSync, readSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { createRedactor, type Redact } from '@toolyard/runtime'
import { errorCode } from '@toolyard/contract/terms'
import type { AuditEntry } from './entry.ts'

/** Where the audit is written, and what it must not hold. */
export interface AuditOptions {
  /** Made when it is first needed. */
  dir: string
  /** Patterns, separated by `,` or `;`. */
  redact: string
  /** Texts that never appear in the log. */
  secrets: readonly string[]
  /** Gets the first of several failures in a row; an audit that fails never fails a call. */
  onError: (error: unknown) => void
}

export interface Audit {
  /** Adds an entry, without waiting for the disk. */
  record (entry: AuditEntry): void
  /** Fulfilled when every entry so far is on disk, or was reported as lost. */
  flush (): Promise<void>
}

interface Line {
  file: string
  line: string
}

const appendTo = promisify<number, string>(appendFile)
/** Lines that wait for a slow disk; what comes on top is lost, and reported. */
const maxWaiting = 10_000

/** Opens the audit trail: NDJSON, a file a day (UTC), appended to by any number of workers. */
export function openAudit (options: AuditOptions): Audit {
  const redactor = createRedactor(options)
  let waiting: Line[] = []
  let writing: Promise<void> | undefined
  let failing = false

  function report (error: unknown): void {
    if (!failing) options.onError(error)
    failing = true
  }

  async function writeAll (): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      for (const [file, lines] of joinByFile(batch)) {
        await append(join(options.dir, file), lines).then(() => { failing = false }, report)
      }
    }
    writing = undefined
  }

  return {
    record (entry) {
      if (waiting.length >= maxWaiting) return report(new Error(`more than ${maxWaiting} audit lines wait for the disk`))
      waiting.push({ file: fileName(entry.at), line: formatLine(entry, redactor()) })
      writing ??= writeAll()
    },
    flush: async () => { await writing }
  }
}

function joinByFile (lines: Line[]): Map<string, string> {
  const files = new Map<string, string>()
  for (const { file, line } of lines) files.set(file, (files.get(file) ?? '') + line)
  return files
}

function fileName (at: Date): string {
  return `${at.toISOString().slice(0, 10).replaceAll('-', '')}.log`
}

/** The fields in the documented order, then Toolyard's own; `envKeys` only when there are any. */
function formatLine (entry: AuditEntry, redact: Redact): string {
  const { at, tool, job, argv, cwd, envKeys, error, egress, call, ...numbers } = entry
  const [shownCwd = '', shownError = '', host = '', ...shownArgv] = redact([cwd, error ?? '', egress?.host ?? '', ...argv])
  return `${JSON.stringify({
    ts: at.toISOString(),
    tool,
    job,
    argv: shownArgv,
    cwd: shownCwd,
    ...numbers,
    ...(egress === undefined ? {} : { egress: { ...egress, host } }),
    ...(envKeys.length === 0 ? {} : { envKeys }),
    ...call,
    ...(error === undefined ? {} : { error: shownError })
  })}\n`
}

/** Only the writing may take long. */
async function append (file: string, lines: string): Promise<void> {
  const fd = openFile(file)
  try {
    await appendTo(fd, isCut(fd) ? `\n${lines}` : lines)
  } finally {
    closeSync(fd)
  }
}

/** A disk that was full has taken a part of a line, of this worker or of another one. */
function isCut (fd: number): boolean {
  const last = Buffer.alloc(1)
  const { size } = fstatSync(fd)
  return size > 0 && readSync(fd, last, 0, 1, size - 1) === 1 && last.toString() !== '\n'
}

function openFile (file: string): number {
  try {
    return openSync(file, 'a+', 0o644)
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
    mkdirSync(dirname(file), { recursive: true, mode: 0o755 })
    return openSync(file, 'a+', 0o644)
  }
}
