import type { Progress } from '@toolyard/client'
import { printable } from '@toolyard/runtime'

const barWidth = 20

interface BarTerminal {
  columns?: number
  write: (text: string) => unknown
}

/** One line at the foot of a terminal that shows how far a call is. */
export class ProgressBar {
  readonly #terminal: BarTerminal
  #isShown = false

  constructor (terminal: BarTerminal) {
    this.#terminal = terminal
  }

  show (progress: Progress): void {
    this.#isShown = true
    this.#terminal.write(`\r\x1b[K${barText(progress, this.#terminal.columns ?? 80)}`)
  }

  /** Takes it away. */
  clear (): void {
    if (this.#isShown) this.#terminal.write('\r\x1b[K')
    this.#isShown = false
  }
}

/** The line, not wider than the terminal: a longer one would leave pieces of itself behind. */
export function barText ({ done, total, text }: Progress, columns: number): string {
  const share = total === null || total === 0 ? undefined : Math.min(1, done / total)
  const filled = share === undefined ? 0 : Math.round(share * barWidth)
  const bar = share === undefined ? '' : `[${'#'.repeat(filled)}${'-'.repeat(barWidth - filled)}] `
  const line = `${bar}${done}${total === null ? '' : `/${total}`}${text === null ? '' : ` ${text}`}`
  // Letters may be two columns wide.
  return printable(line.replaceAll(/[\n\t]/g, ' ')).slice(0, Math.max(0, Math.floor(isNarrow(line) ? columns - 1 : (columns - 1) / 2)))
}

function isNarrow (text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text)
}
