/**
 * Makes a short report of raw TAP: a line for each test file, everything about what failed, and the counts.
 * (tap's own reporters redraw the terminal, which leaves a log full of control characters.)
 */
export class TestReport {
  /** tap's own counts of assertions, from the end of its output. @type {{ passed: number, failed: number, skipped: number }} */
  counts = { passed: 0, failed: 0, skipped: 0 }

  /** Where the diagnostics of a failure began, in columns; -1 outside of them. */
  #diagnostics = -1
  #failed = false

  /**
   * @param {string} line of TAP
   * @returns {string | undefined} what to print for it
   */
  read (line) {
    if (line.startsWith('# { total: ')) this.#readCounts(line)
    if (this.#diagnostics >= 0) return this.#readDiagnostics(line)
    const [, indent = '', not, rest] = /^( *)(not )?ok \d+ - (.*)/.exec(line) ?? []
    if (rest === undefined) return this.#readOther(line)
    const skipped = / # (SKIP|TODO)/.test(rest)
    this.#failed = not !== undefined && !skipped
    return this.#failed || indent === '' ? `${indent}${this.#failed ? 'FAILED' : 'ok    '} ${rest}` : undefined
  }

  /** @param {string} line */
  #readOther (line) {
    if (this.#failed && line.endsWith('---')) this.#diagnostics = line.length - '---'.length
    this.#failed = false
    return line.startsWith('Bail out!') ? line : undefined
  }

  /** @param {string} line */
  #readDiagnostics (line) {
    if (line !== `${' '.repeat(this.#diagnostics)}...`) return line
    this.#diagnostics = -1
    return undefined
  }

  /** A file that breaks before its first assertion counts as one failure here. @param {string} line */
  #readCounts (line) {
    /** @param {string} name */
    const count = name => Number(new RegExp(`\\b${name}: (\\d+)`).exec(line)?.[1] ?? 0)
    this.counts = { passed: count('pass'), failed: count('fail'), skipped: count('skip') + count('todo') }
  }
}
