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

/** Prints rows under each other. */
export function print (title: string, rows: readonly Row[]): void {
  console.log(`\n${title}`)
  console.table(rows)
}
