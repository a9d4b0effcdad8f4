import { limits, writeJson } from '@toolyard/contract/terms'
import { indentedJson } from './indented-json.ts'
import { fieldChars, keptText, listAt, partAt, type KeptText, type OutputTask } from './kept-text.ts'
import { OutputFault } from './output-fault.ts'

export interface ReadArguments {
  offset?: number
  limit?: number
  lines?: string
  pointer?: string
  items?: string
}

export type ReadTask = OutputTask<ReadArguments>

/** The JSON of a part of an output, which is as large as an answer takes. @throws OutputFault */
export function readOutput (task: ReadTask): string {
  const { args: { lines, items, pointer, offset, limit } } = task
  const ranges = [lines !== undefined && 'lines', items !== undefined && 'items', (offset !== undefined || limit !== undefined) && 'offset'].filter(each => each !== false)
  const [first, second] = ranges
  if (second !== undefined) throw new OutputFault(second, `${first} and ${second} can't come together: ask for one of offset and limit, lines, items`)
  const whole = keptText(task.source)
  if (items !== undefined) return itemsOf(task, whole, items)
  const part = pointer === undefined ? whole : partAt(whole, pointer)
  if (lines !== undefined) return linesOf(task, part, lines)
  const isWhole = pointer !== undefined && part.isJson && first === undefined && part.text.length <= roomOf(task)
  return isWhole ? answer(task, `"value":${part.text}`) : charsOf(task, part)
}

function charsOf (task: ReadTask, { text }: KeptText): string {
  const { offset = 0, limit } = task.args
  if (offset > text.length) throw new OutputFault('offset', `is behind the end: there are ${text.length} characters`)
  const start = offset > 0 && isLow(text, offset) ? offset - 1 : offset
  const end = fittingEnd(text, start, Math.min(text.length, start + (limit ?? Math.min(roomOf(task), limits.outputChars))), roomOf(task))
  const next = end < text.length ? { next_offset: end } : {}
  return answer(task, fieldsOf({ offset: start, total_chars: text.length, text: text.slice(start, end), ...next }))
}

/** Where a part ends whose JSON has room. At least one character is always read, so that a reader comes to the end. */
function fittingEnd (text: string, start: number, wanted: number, room: number): number {
  let end = wanted
  for (let size = jsonLength(text, start, end); size > room; size = jsonLength(text, start, end)) {
    end = start + Math.max(1, Math.floor((end - start) * room / size))
  }
  if (end >= text.length || !isLow(text, end)) return end
  return end - 1 > start ? end - 1 : end + 1
}

function jsonLength (text: string, start: number, end: number): number {
  return end - start <= 1 ? 0 : JSON.stringify(text.slice(start, end)).length
}

/** Whether the second half of a character is here. */
function isLow (text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code <= 0xdfff
}

function linesOf (task: ReadTask, { text, isJson }: KeptText, asked: string): string {
  const lines = isJson ? indentedJson(text).map(line => line.text) : text.split('\n')
  const { first, last } = rangeOf('lines', asked, lines.length)
  if (first > lines.length) throw new OutputFault('lines', `begin behind the end: there are ${lines.length} lines`)
  const room = roomOf(task)
  let shown = ''
  let end = first - 1
  for (let size = 2; end < last; end++) {
    const line = `${end > first - 1 ? '\n' : ''}${lines[end] ?? ''}`
    size += JSON.stringify(line).length - 2
    if (size > room) break
    shown += line
  }
  if (end === first - 1) throw new OutputFault('lines', tooLong(first, lines[first - 1] ?? '', isJson))
  const next = end < last ? { next_lines: `${end + 1}-${last}` } : {}
  return answer(task, fieldsOf({ lines: `${first}-${end}`, total_lines: lines.length, text: shown, ...next }))
}

function tooLong (number: number, line: string, isJson: boolean): string {
  const other = isJson ? 'a pointer to it' : 'offset and limit; output_search gives the offset of what it finds'
  return `line ${number} has ${line.length} characters, more than an answer takes: read it by ${other}`
}

function itemsOf (task: ReadTask, whole: KeptText, asked: string): string {
  const list = listAt(whole, task.args.pointer ?? '')
  const range = rangeOf('items', asked, list.length - 1)
  if (range.first >= list.length && !(range.first === 0 && list.length === 0)) throw new OutputFault('items', `begin behind the end: the list has ${list.length} items`)
  const room = roomOf(task)
  const read: string[] = []
  for (let index = range.first, size = 2; index <= range.last; index++) {
    const item = list.item(index)
    size += item.length + 1
    if (size > room) break
    read.push(item)
  }
  const end = range.first + read.length - 1
  if (read.length === 0 && range.last >= range.first) {
    const pointer = `${task.args.pointer ?? ''}/${range.first}`
    throw new OutputFault('items', `item ${range.first} is larger than an answer: read it with the pointer ${pointer}`)
  }
  const next = end < range.last ? { next_items: `${end + 1}-${range.last}` } : {}
  const fields = fieldsOf({ items: read.length === 0 ? 'none' : `${range.first}-${end}`, total_items: list.length, ...next })
  return answer(task, `${fields},"value":[${read.join(',')}]`)
}

/** The bounds of `5`, `5-9` or `5-`; the last one is there. */
function rangeOf (argument: 'lines' | 'items', text: string, most: number): { first: number, last: number } {
  const [from = '', to] = text.split('-')
  const first = Number(from)
  const last = to === undefined ? first : to === '' ? most : Number(to)
  if (to !== undefined && to !== '' && last < first) throw new OutputFault(argument, `${text} ends before it begins`)
  return { first, last: Math.min(Math.max(first, last), most) }
}

function roomOf ({ room, about }: ReadTask): number {
  return Math.max(fieldChars, room - fieldChars - JSON.stringify(about).length)
}

/** The fields of an object's JSON, without its braces. */
function fieldsOf (fields: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(fields).slice(1, -1)
}

function answer ({ about, args: { pointer } }: ReadTask, fields: string): string {
  return `{${writeJson({ ...about, ...pointer !== undefined && { pointer } }).slice(1, -1)},${fields}}`
}
