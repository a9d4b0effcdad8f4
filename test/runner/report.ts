import { Parser } from 'tap-parser'

/** In assertions of a file of tests; a test around others is none. */
export interface FileReport {
  ok: boolean
  passed: number
  failed: number
  /** Skipped, or marked to do, and why. */
  skipped: string[]
}

/**
 * Reads what one file of tests has printed. A file without an assertion fails, and so does one that breaks off.
 *
 * @param exited whether its process exited with 0.
 */
export function reportOf (tap: string, exited = true): FileReport {
  const report: FileReport = { ok: true, passed: 0, failed: 0, skipped: [] }
  const parser = new Parser(results => { report.ok = results.ok && exited })
  follow(parser, report)
  parser.end(tap)
  if (report.passed + report.failed + report.skipped.length === 0) report.ok = false
  if (!report.ok && report.failed === 0) report.failed = 1
  return report
}

function follow (parser: Parser, report: FileReport): void {
  parser.on('child', (child: Parser) => { follow(child, report) })
  parser.on('assert', ({ ok, skip, todo, fullname, closingTestPoint }) => {
    if (closingTestPoint && (ok || report.failed > 0)) return
    if (skip !== false || todo !== false) report.skipped.push(`${fullname}: ${[skip, todo].find(reason => typeof reason === 'string') ?? 'no reason given'}`)
    else if (ok) report.passed++
    else report.failed++
  })
}
