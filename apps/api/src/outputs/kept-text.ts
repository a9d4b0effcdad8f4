import { isRecord, numberText, pointerName, readWhole, writeJson } from '@toolyard/contract/terms'
import { OutputFault } from './output-fault.ts'

/** The JSON of an output as it was kept, in pieces, or the lines of a log. */
export type Source = { json: readonly Uint8Array[] } | { log: string }

export interface OutputTask<Arguments> {
  source: Source
  args: Arguments
  /** How the answer begins: the job, and what of it is looked at. */
  about: Readonly<Record<string, unknown>>
  /** UTF-16 units that the JSON of the answer may have. */
  room: number
}

/** The other fields of an answer take no more. */
export const fieldChars = 200

export interface KeptText {
  text: string
  isJson: boolean
}

interface KeptList {
  length: number
  /** The JSON of an item. */
  item: (index: number) => string
}

/** Names of an object that a message lists. */
const mostNames = 20

export function keptText (source: Source): KeptText {
  if ('log' in source) return { text: source.log, isJson: false }
  const json = Buffer.concat(source.json).toString()
  return json.startsWith('"') ? textOf(json) : { text: json, isJson: true }
}

/** The kept part of an output that was larger is a text that may have no end. */
function textOf (json: string): KeptText {
  const value: unknown = JSON.parse(json)
  return { text: String(value), isJson: false }
}

/** The part of a JSON output that a pointer names. @throws OutputFault */
export function partAt (kept: KeptText, pointer: string): KeptText {
  const found = find(kept, pointer)
  return typeof found.value === 'string' ? { text: found.value, isJson: false } : { text: found.json(), isJson: true }
}

/** The list that a pointer names. @throws OutputFault */
export function listAt (kept: KeptText, pointer: string): KeptList {
  const { value } = find(kept, pointer)
  if (!Array.isArray(value)) throw new OutputFault('items', `${pointer === '' ? 'the output' : pointer} is ${kindOf(value)} and no list: leave items out`)
  return { length: value.length, item: index => memberJson(value, index) }
}

interface Found {
  value: unknown
  json: () => string
}

function find (kept: KeptText, pointer: string): Found {
  if (pointer !== '' && !pointer.startsWith('/')) throw new OutputFault('pointer', `a JSON Pointer is empty or begins with /, as in /${pointer.slice(0, 80)}`)
  const whole = valueOf(kept)
  let found: Found = { value: whole, json: () => writeJson(whole) }
  const names = pointer.split('/').slice(1).map(pointerName)
  for (const [depth, name] of names.entries()) {
    const at = `/${pointer.split('/').slice(1, depth + 1).join('/')}`
    found = member(found.value, name, depth === 0 ? 'the output' : at)
  }
  return found
}

/** Tools that know only texts may have printed JSON. */
function valueOf ({ text }: KeptText): unknown {
  try {
    return readWhole(text)
  } catch {
    throw new OutputFault('pointer', 'it is a text and no JSON: read it by offset or lines')
  }
}

function member (value: unknown, name: string, at: string): Found {
  if (Array.isArray(value)) {
    const index = /^(?:0|[1-9]\d{0,8})$/.test(name) ? Number(name) : -1
    if (index < 0 || index >= value.length) throw new OutputFault('pointer', `${at} is a list of ${value.length} items, and has none called ${JSON.stringify(name.slice(0, 80))}`)
    return { value: value[index], json: () => memberJson(value, index) }
  }
  if (!isRecord(value)) throw new OutputFault('pointer', `${at} is ${kindOf(value)}, which has no parts`)
  if (!Object.hasOwn(value, name)) throw new OutputFault('pointer', `${at} has no ${JSON.stringify(name.slice(0, 80))}; it has ${namesOf(value)}`)
  return { value: value[name], json: () => memberJson(value, name) }
}

/** Digits that a double can't hold are kept beside the value that they are in. */
function memberJson (container: object, name: string | number): string {
  return numberText(container, name) ?? writeJson(Reflect.get(container, name))
}

function namesOf (value: object): string {
  const names = Object.keys(value)
  const shown = names.slice(0, mostNames).map(name => JSON.stringify(name.slice(0, 80))).join(', ')
  if (names.length === 0) return 'no fields'
  return names.length > mostNames ? `${shown} and ${names.length - mostNames} more` : shown
}

function kindOf (value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
