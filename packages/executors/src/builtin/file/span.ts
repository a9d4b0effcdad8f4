import { BuiltinFailure } from '../kit/handler.ts'

type Arguments = Readonly<Record<string, unknown>>

/**
 * Inserts before the line `start_line` (one more than the lines there are: at the end), or at `offset`, in characters
 * (UTF-16 units) from 0. Content that is put between lines gets a line end of its own.
 */
export function insertAt (text: string, content: string, args: Arguments): string {
  if (args['start_line'] !== undefined) {
    const lines = lineStarts(text)
    const line = lineNumber(args, 'start_line', lines.length)
    const at = lines[line - 1] ?? text.length
    return splice(text, { start: at, end: at }, asLines(content, text, at))
  }
  const at = position(args, 'offset', text)
  return splice(text, { start: at, end: at }, content)
}

/** Replaces the lines `start_line` to `end_line`, both included, or the characters from `start` up to `end`, which is not included. */
export function replaceRange (text: string, content: string, args: Arguments): string {
  if (args['start_line'] === undefined && args['end_line'] === undefined) {
    const range = { start: position(args, 'start', text), end: position(args, 'end', text) }
    if (range.end < range.start) throw new BuiltinFailure('input.end must be >= input.start')
    return splice(text, range, content)
  }
  const lines = lineStarts(text)
  const first = lineNumber(args, 'start_line', lines.length - 1)
  const last = args['end_line'] === undefined ? first : lineNumber(args, 'end_line', lines.length - 1)
  if (last < first) throw new BuiltinFailure('input.end_line must be >= input.start_line')
  const range = { start: lines[first - 1] ?? 0, end: lines[last] ?? text.length }
  const endsWithLine = range.end > range.start && text[range.end - 1] === '\n'
  return splice(text, range, endsWithLine ? asLines(content, text, range.start) : content)
}

/** Offsets of the lines, and after the last one the length of the text. */
function lineStarts (text: string): number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  if (starts.at(-1) !== text.length) starts.push(text.length)
  return starts
}

function lineNumber (args: Arguments, name: string, max: number): number {
  const value = args[name]
  if (!Number.isInteger(value) || Number(value) < 1) throw new BuiltinFailure(`input.${name} must be a line number, from 1`)
  if (Number(value) > max) throw new BuiltinFailure(`input.${name} is ${Number(value)}, after the end of the file (${max})`)
  return Number(value)
}

function position (args: Arguments, name: string, text: string): number {
  const value = args[name]
  if (!Number.isInteger(value) || Number(value) < 0) throw new BuiltinFailure(`input.${name} must be an offset in characters, from 0`)
  if (Number(value) > text.length) throw new BuiltinFailure(`input.${name} is ${Number(value)}, after the end of the file (${text.length})`)
  return Number(value)
}

/** Whole lines: a line end before them where the text has none, and after them. */
function asLines (content: string, text: string, at: number): string {
  if (content === '') return ''
  const end = text.includes('\r\n') ? '\r\n' : '\n'
  const before = at > 0 && text[at - 1] !== '\n' ? end : ''
  return before + (content.endsWith('\n') ? content : content + end)
}

function splice (text: string, { start, end }: { start: number, end: number }, content: string): string {
  return text.slice(0, start) + content + text.slice(end)
}
