/** A table of a Markdown text, under the nearest heading above it. Cells are trimmed; `\|` is a bar. */
interface MarkdownTable {
  heading: string
  columns: string[]
  rows: Array<Record<string, string>>
}

/** Reads the tables of a Markdown text, except those inside code fences. */
export function readTables (markdown: string): MarkdownTable[] {
  const tables: MarkdownTable[] = []
  let heading = ''
  let table: MarkdownTable | undefined
  for (const line of withoutFences(markdown)) {
    if (line.startsWith('#')) heading = line.replace(/^#+\s*/, '').trim()
    if (!line.trimStart().startsWith('|')) {
      table = undefined
      continue
    }
    const cells = readCells(line)
    if (table === undefined) {
      table = { heading, columns: cells, rows: [] }
      tables.push(table)
    } else if (!cells.every(cell => /^:?-+:?$/.test(cell))) {
      table.rows.push(Object.fromEntries(table.columns.map((column, index) => [column, cells[index] ?? ''])))
    }
  }
  return tables
}

/** The text of a cell without the backticks of code. */
export function plain (cell: string): string {
  return cell.replaceAll('`', '').trim()
}

/** The lines of a Markdown text that are not in code fences. */
export function withoutFences (markdown: string): string[] {
  let fenced = false
  return markdown.split('\n').filter(line => {
    const fence = line.trimStart().startsWith('```')
    if (fence) fenced = !fenced
    return !fence && !fenced
  })
}

function readCells (line: string): string[] {
  return line.trim().replace(/^\|/, '').replace(/\|$/, '').split(/(?<!\\)\|/).map(cell => cell.trim().replaceAll('\\|', '|'))
}
