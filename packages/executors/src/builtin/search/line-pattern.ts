import { RE2JS } from 're2js'

/** Finds a query in a text; both kinds take time proportional to the text. */
export interface LinePattern {
  /** Offset of the first match at or after `from`, which may begin and end in different lines; -1 when there is none. */
  findIn (text: string, from: number): number
}

/** UTF-16 units of a query. */
export const queryChars = 1_000

/**
 * Compiles a query: as it is, or as a regular expression of RE2's syntax, whose engine knows no backtracking.
 *
 * @throws Error whose message says what is wrong with the expression.
 */
export function compileQuery ({ query, regex, caseSensitive }: { query: string, regex: boolean, caseSensitive: boolean }): LinePattern {
  if (!regex) return caseSensitive ? { findIn: (text, from) => text.indexOf(query, from) } : literal(query)
  const pattern = RE2JS.compile(query, RE2JS.MULTILINE | (caseSensitive ? 0 : RE2JS.CASE_INSENSITIVE))
  return {
    findIn (text, from) {
      // To find whether there is a match is ten times as fast as to find where, and most files have none.
      if (from === 0 && !pattern.test(text)) return -1
      const matcher = pattern.matcher(text)
      return matcher.find(from) ? matcher.start() : -1
    }
  }
}

/** A plain text leaves a backtracking engine nothing to choose. */
function literal (query: string): LinePattern {
  const pattern = new RegExp(query.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), 'giu')
  return {
    findIn (text, from) {
      pattern.lastIndex = from
      return pattern.exec(text)?.index ?? -1
    }
  }
}
