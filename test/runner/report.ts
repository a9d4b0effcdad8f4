import { Parser } from 'tap-parser'

/** What a file of tests came to. */
export interface FileReport {
  ok: boolean
  /** Assertions; a test around others is none. */
  passed: number
  failed: number
  /** With those marked to do. */
  skipped: number
  /** About what failed or was skipped. */
  lines: string[]
}

/**
 * Reads what one file of tests has printed.
 *
 * @param trouble how the process ended, unless it exited with 0.
 */
export function reportOf (tap: string, trouble?: string): FileReport {
  const report: FileReport = { ok: true, passed: 0, failed: 0, skipped: 0, lines: [] }
  const parser = new Parser(results => {
    report.ok = results.ok && trouble === undefined
    if (results.bailout !== false) report.lines.push(`Bail out! ${String(results.bailout)}`)
  })
  follow(parser, report, tap.split('\n'))
  parser.end(tap)
  if (report.passed + report.failed + report.skipped === 0) report.ok = false
  // A file that breaks off fails, whatever it has asserted before.
  if (!report.ok && report.failed === 0) {
    report.failed = 1
    report.lines.push(trouble ?? 'It does not say how its tests ended.')
  }
  return report
}

/** Lines of the output around a test that fails without an assertion that does. */
const excerptLines = 40

function follow (parser: Parser, report: FileReport, tap: readonly string[]): void {
  parser.on('child', (child: Parser) => { follow(child, report, tap) })
  parser.on('assert', ({ ok, skip, todo, name, fullname, diag, closingTestPoint }) => {
    if (closingTestPoint && (ok || report.failed > 0)) return
    if (skip !== false || todo !== false) {
      report.skipped++
      report.lines.push(`skipped ${fullname}: ${[skip, todo].find(reason => typeof reason === 'string') ?? 'no reason given'}`)
    } else if (ok) {
      report.passed++
    } else {
      report.failed++
      report.lines.push(`FAILED ${fullname}`, ...describe(diag))
      if (closingTestPoint) {
        const at = tap.findIndex(line => /^ *not ok /.test(line) && line.includes(String(name)))
        report.lines.push('  its output:', ...tap.slice(Math.max(0, at - excerptLines), at + excerptLines).map(line => `    ${line}`))
      }
    }
  })
}

function describe (diag: unknown): string[] {
  if (typeof diag !== 'object' || diag === null) return []
  return Object.entries(diag).flatMap(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
    return [`  ${name}:`, ...text.trimEnd().split('\n').map(line => `    ${line}`)]
  })
}
