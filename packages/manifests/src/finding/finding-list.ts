import type { Finding } from './finding.ts'
import { manifestLimits } from '../tool/limits.ts'

export type Remark = Omit<Finding, 'file'>

/** Collects the findings of one manifest, up to a bound: a large file can be wrong in millions of places. */
export class FindingList {
  readonly #file: string
  readonly #findings: Finding[] = []
  #dropped = 0

  constructor (file: string) {
    this.#file = file
  }

  add (remarks: readonly Remark[]): void {
    for (const remark of remarks) {
      if (this.#findings.length < manifestLimits.findings) this.#findings.push({ file: this.#file, ...remark })
      else this.#dropped++
    }
  }

  /** All of them; the last one says how many more there are. */
  all (): Finding[] {
    if (this.#dropped === 0) return this.#findings
    return [...this.#findings, { severity: 'error', file: this.#file, rule: 'X24', message: `${this.#dropped} more findings are not listed`, fix: 'Mend these first.' }]
  }
}
