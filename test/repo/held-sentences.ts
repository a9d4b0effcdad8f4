/** Sentences of a page that name no test, and the tests that it names. */
interface HeldSentences {
  /** The beginnings of paragraphs, items and tables without one. */
  unheld: string[]
  tests: string[]
}

const marker = /<!-- (?:tests: (?<tests>[\w\-/, ]+)|says why) -->$/

/**
 * Reads which tests hold a page: each paragraph, each item of a list and each table ends with a comment that names them, or with
 * one that says that it tells reasons alone.
 */
export function readHeldSentences (page: string): HeldSentences {
  const found: HeldSentences = { unheld: [], tests: [] }
  const blocks = page.split('\n').filter(line => line !== '' && !line.startsWith('#') && !line.endsWith(':'))
  for (const [at, line] of blocks.entries()) {
    const isRow = line.startsWith('|')
    // A table has its comment in the paragraph behind it.
    if (isRow && (blocks[at + 1] ?? '').startsWith('|')) continue
    const match = marker.exec(isRow ? blocks[at + 1] ?? '' : line)
    if (match === null) found.unheld.push(line.slice(0, 60))
    else found.tests.push(...match.groups?.['tests']?.split(', ') ?? [])
  }
  return found
}
