import { RE2JS } from 're2js'
import { indentedJson, type JsonLine } from './indented-json.ts'
import { fieldChars, keptText, type OutputTask } from './kept-text.ts'
import { OutputFault } from './output-fault.ts'

export interface SearchArguments {
  pattern: string
  context: number
  case_sensitive: boolean
  limit: number
  /** Line and column from which on to search. */
  cursor?: string
}

export type SearchTask = OutputTask<SearchArguments>

/** UTF-16 units of a line that are shown, and how many of them before the match. */
const lineChars = 500
const leadChars = 100
/** The same of a line beside one that matches. */
const contextChars = 200
/** UTF-16 units of a pointer that `output_read` takes. */
const pointerChars = 2_000

interface Match {
  line: number
  column: number
  text: string
  /** Of the match in a text, for `output_read`. */
  offset?: number
  /** Of the value that the line is about, in JSON. */
  pointer?: string
  before?: string[]
  after?: string[]
}

/** The JSON of the lines of an output that match. @throws OutputFault */
export function searchOutput ({ source, args, about, room }: SearchTask): string {
  const pattern = compiled(args)
  const kept = keptText(source)
  const lines = kept.isJson ? indentedJson(kept.text) : kept.text.split('\n').map(text => ({ text }))
  const matches: Match[] = []
  let size = JSON.stringify(about).length + fieldChars
  let next: string | undefined
  for (const { match, lead } of matchesIn(lines, pattern, args)) {
    const length = JSON.stringify(match).length + 1
    if (matches.length === args.limit || (matches.length > 0 && size + length > room)) {
      next = `${match.line}:${match.column - 1}`
      break
    }
    matches.push(matches.length === 0 ? fitting(match, lead, room - size) : match)
    size += length
  }
  const more = next === undefined ? {} : { next_cursor: next }
  return JSON.stringify({ ...about, matches, match_count: matches.length, total_lines: lines.length, ...more })
}

function compiled ({ pattern, case_sensitive: isSensitive }: SearchArguments): RE2JS {
  try {
    return RE2JS.compile(pattern, isSensitive ? 0 : RE2JS.CASE_INSENSITIVE)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new OutputFault('pattern', `is no expression of RE2, which has no look-around and no back references: ${why}`)
  }
}

/** A long line has as many matches as are far enough from each other to be shown one by one. */
function * matchesIn (
  lines: ReadonlyArray<{ text: string } | JsonLine>, pattern: RE2JS, { context, cursor }: SearchArguments
): Generator<{ match: Match, lead: number }> {
  const [fromLine = 1, fromColumn = 0] = (cursor ?? '1:0').split(':').map(Number)
  const begin = Math.max(0, fromLine - 1)
  let offset = 0
  for (const [index, line] of lines.entries()) {
    const { text } = line
    if (index >= begin && pattern.test(text)) {
      const matcher = pattern.matcher(text)
      for (let from = index === begin ? Math.min(fromColumn, text.length) : 0; from <= text.length && matcher.find(from);) {
        const at = matcher.start()
        const shownFrom = Math.max(0, Math.min(at - leadChars, text.length - lineChars))
        const place = 'pointer' in line ? pointerOf(line) : { offset: offset + at }
        const around = contextOf(lines, index, context)
        const match = { line: index + 1, column: at + 1, ...place, text: shown(text, shownFrom, lineChars), ...around }
        yield { match, lead: at - shownFrom }
        from = Math.max(shownFrom + lineChars, matcher.end(), at + 1)
      }
    }
    offset += text.length + 1
  }
}

function contextOf (lines: ReadonlyArray<{ text: string }>, index: number, count: number): Pick<Match, 'before' | 'after'> {
  if (count === 0) return {}
  const texts = (from: number, to: number): string[] => lines.slice(Math.max(0, from), to).map(({ text }) => shown(text, 0, contextChars))
  return { before: texts(index - count, index), after: texts(index + 1, index + 1 + count) }
}

/** One that `output_read` takes; what has a longer one is read by its line. */
function pointerOf ({ pointer }: JsonLine): Pick<Match, 'pointer'> {
  return pointer.length <= pointerChars ? { pointer } : {}
}

/** A match with as much around it as there is room for: an answer that were cut would be no JSON. */
function fitting (match: Match, lead: number, room: number): Match {
  const fits = (each: Match): boolean => JSON.stringify(each).length < room
  if (fits(match)) return match
  const { before: _, after: __, ...bare } = match
  if (fits(bare)) return bare
  const { pointer: ___, ...own } = bare
  let { text } = own
  text = shown(text, lead, text.length - 1)
  while (!fits({ ...own, text }) && text.length > 1) text = shown(text, 0, text.length >> 1)
  const isPointed = match.pointer !== undefined && fits({ ...own, text, pointer: match.pointer })
  return { ...own, text, ...isPointed && match.pointer !== undefined && { pointer: match.pointer } }
}

/** Without the halves of characters at its ends. */
function shown (text: string, from: number, most: number): string {
  if (text.length <= most) return text
  return text.slice(from, from + most).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '')
}
