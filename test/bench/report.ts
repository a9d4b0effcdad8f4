export interface Row {
  what: string
  bare: string
  toolyard: string
  ratio: string
  aim: string
}

/** A row that puts Toolyard beside its yardstick. */
export function ratioRow (what: string, bare: number, toolyard: number, aim: string): Row {
  return { what, bare: bare.toFixed(2), toolyard: toolyard.toFixed(2), ratio: (toolyard / bare).toFixed(2), aim }
}

/** The row of that round whose ratio is in the middle: one disturbed round changes nothing. */
export function medianRow (what: string, pairs: ReadonlyArray<[bare: number, toolyard: number]>, aim: string): Row {
  const sorted = [...pairs].sort((a, b) => a[1] / a[0] - b[1] / b[0])
  const [bare, toolyard] = sorted[Math.floor(sorted.length / 2)] ?? [NaN, NaN]
  return ratioRow(what, bare, toolyard, aim)
}

/** Prints rows under each other. */
export function print (title: string, rows: readonly Row[]): void {
  console.log(`\n${title}`)
  console.table(rows)
}
