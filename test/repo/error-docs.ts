import { plain, readTables } from './markdown-table.ts'

interface ErrorEntry {
  status?: number
  retryable: boolean
  meaning: string
}

/**
 * Compares the table under a heading of `docs/errors.md` with the errors in the code: its columns are `code`, `status`
 * (where the code has one), `retryable`, `meaning` and `what to do`. Returns what differs, a line each.
 */
export function compareErrorDocs (markdown: string, heading: string, errors: Record<string, ErrorEntry>): string[] {
  const rows = readTables(markdown).find(table => table.heading === heading)?.rows ?? []
  const documented = rows.map(row => plain(row['code'] ?? ''))
  return [
    ...Object.keys(errors).filter(code => !documented.includes(code)).map(code => `${heading}: ${code} is not documented`),
    ...documented.filter((code, index) => documented.indexOf(code) < index).map(code => `${heading}: ${code} is documented twice`),
    ...rows.flatMap((row, index) => compareRow(row, documented[index] ?? '', errors).map(difference => `${heading}: ${difference}`))
  ]
}

function compareRow (row: Record<string, string>, code: string, errors: Record<string, ErrorEntry>): string[] {
  const entry = Object.hasOwn(errors, code) ? errors[code] : undefined
  if (entry === undefined) return [`${code} is not an error of the code`]
  const expected = {
    ...(entry.status !== undefined && { status: String(entry.status) }),
    retryable: entry.retryable ? 'yes' : 'no',
    meaning: entry.meaning
  }
  const differences = Object.entries(expected)
    .filter(([column, value]) => plain(row[column] ?? '') !== value)
    .map(([column, value]) => `${code} has the ${column} '${plain(row[column] ?? '')}', in the code it is '${value}'`)
  return plain(row['what to do'] ?? '') === '' ? [...differences, `${code} doesn't say what to do`] : differences
}
