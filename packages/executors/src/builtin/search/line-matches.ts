import type { FileText, TextBlock } from './file-text.ts'
import type { LinePattern } from './line-pattern.ts'
import type { ContentResult, LineQuery } from './walk/task.ts'

/** UTF-16 units of a line that are shown, and how many of them before the match. */
const lineChars = 500
const leadChars = 100

/**
 * The lines of a file that match, once each; `block` stands between the blocks of a large file, so that whoever asks can
 * look at the clock. Context ends with the block.
 */
export function * matchesIn (file: FileText, pattern: LinePattern, query: LineQuery): Generator<Omit<ContentResult, 'path'> | 'block'> {
  const bytes = Buffer.from(query.query)
  // Most files are done with a look at their bytes.
  const mayMatch = query.regex || !query.caseSensitive ? () => true : (block: Buffer) => block.includes(bytes)
  for (const block of file.blocks(mayMatch)) {
    yield * matchesInBlock(block, pattern, query.contextLines)
    yield 'block'
  }
}

function * matchesInBlock ({ text, line: firstLine }: TextBlock, pattern: LinePattern, contextLines: number): Generator<Omit<ContentResult, 'path'>> {
  let line = firstLine
  let counted = 0
  for (let from = 0; from <= text.length;) {
    const at = pattern.findIn(text, from)
    if (at === -1) return
    const start = at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1
    // Nothing behind the last line end is a line.
    if (start === text.length && start > 0) return
    const end = endOfLine(text, at)
    line += lineFeeds(text, counted, start)
    counted = start
    const content = text.slice(start, end)
    // Only within the line: a match over several lines counts for none of them.
    const column = pattern.findIn(content, 0)
    if (column !== -1) yield { line, column: column + 1, text: shown(content, column), ...context(text, { start, end }, contextLines) }
    from = end + 1
  }
}

function endOfLine (text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end === -1 ? text.length : end
}

function lineFeeds (text: string, from: number, to: number): number {
  let count = 0
  for (let at = text.indexOf('\n', from); at !== -1 && at < to; at = text.indexOf('\n', at + 1)) count += 1
  return count
}

function context (text: string, { start, end }: { start: number, end: number }, lines: number): { before?: string[], after?: string[] } {
  if (lines === 0) return {}
  const before: string[] = []
  for (let at = start; at > 0 && before.length < lines;) {
    const begin = at === 1 ? 0 : text.lastIndexOf('\n', at - 2) + 1
    before.unshift(shown(text.slice(begin, at - 1), 0))
    at = begin
  }
  const after: string[] = []
  for (let at = end + 1; at < text.length && after.length < lines;) {
    const stop = endOfLine(text, at)
    after.push(shown(text.slice(at, stop), 0))
    at = stop + 1
  }
  return { before, after }
}

function shown (line: string, column: number): string {
  if (line.length <= lineChars) return line
  const from = Math.max(0, Math.min(column - leadChars, line.length - lineChars))
  return line.slice(from, from + lineChars).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '')
}
