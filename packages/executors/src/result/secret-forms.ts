import { isRecord, numberText } from '@toolyard/contract/terms'
import { Turns } from '@toolyard/runtime'
import { parseJson } from '../run/json.ts'
import { fieldForm } from './hidden-texts.ts'
import { leastHidden } from './hider.ts'

/** UTF-16 units of a text in a secret document that is hidden wherever it stands. A shorter one may be an ordinary name. */
const leastAlone = 16

/** Of base64 that comes line by line, as PEM and MIME have it. */
const lineLengths = [64, 76]

/**
 * Every text that would give a secret away: as it is, without the white space around it, line by line, as JSON and a URL have
 * it, and as base64 has it, also in the midst of another text. Of a document in JSON, such as the key of a service account, each
 * long text, and each field with its text. The longest first. They are made in turns: a tenant's secret may have many.
 *
 * @param values the secrets.
 * @param sent texts with a secret in them, such as headers as they were sent.
 */
export async function secretForms (values: Iterable<string>, sent: readonly string[]): Promise<string[]> {
  const turns = new Turns()
  const all = new Set<string>()
  for (const form of eachForm([...values], sent)) {
    if (form.length >= leastHidden) all.add(form)
    // So that the clock is looked at for each: one may be long.
    if (turns.isOver(64)) await turns.next()
  }
  return [...all].sort((a, b) => b.length - a.length)
}

function * eachForm (values: readonly string[], sent: readonly string[]): Generator<string> {
  yield * sentForms(sent)
  const documents = values.map(readDocument)
  const wholes = wholesOf(values, documents)
  for (const whole of wholes) yield * base64Forms(whole)
  for (const text of new Set([...wholes, ...linesOf(wholes)])) {
    yield text
    yield * jsonForms(text)
    yield * urlForms(text)
  }
  for (const { fields } of documents) yield * fields
}

/** What gives a text away that was sent with a secret in it. */
export function sentForms (sent: readonly string[]): string[] {
  return sent.flatMap(text => [text, ...base64Forms(text)])
}

/** The texts of secrets as they are, without the ways to write them elsewhere. */
export function plainTexts (values: readonly string[]): string[] {
  const wholes = wholesOf(values, values.map(readDocument))
  return [...new Set([...wholes, ...linesOf(wholes)])]
}

function wholesOf (values: readonly string[], documents: ReadonlyArray<{ texts: string[] }>): string[] {
  return [...new Set([...values, ...documents.flatMap(({ texts }) => texts)].flatMap(value => [value, value.trim()]))]
}

/** The output loses the white space around it, and comes line by line. */
function linesOf (wholes: readonly string[]): string[] {
  return wholes.flatMap(value => value.split(/[\r\n]+/)).map(line => line.trim())
}

/** How many texts of a secret are hidden by themselves, before their forms. */
export function partsOfSecret (value: string): number {
  const { texts, fields } = readDocument(value)
  return [value, ...texts].reduce((sum, text) => sum + text.split(/[\r\n]+/).length, fields.length)
}

/** The texts and the fields of a secret that is an object or a list in JSON. */
function readDocument (value: string): { texts: string[], fields: string[] } {
  const texts: string[] = []
  const fields: string[] = []
  const visit = (item: unknown, written?: string, field?: string): void => {
    if (Array.isArray(item)) for (const [at, each] of item.entries()) visit(each, numberText(item, at))
    else if (isRecord(item)) for (const [name, each] of Object.entries(item)) visit(each, numberText(item, name), name)
    else if (typeof item === 'string' || typeof item === 'number') {
      const text = written ?? String(item)
      if (field === undefined || text.length >= leastAlone) texts.push(text)
      if (field !== undefined) fields.push(fieldForm(field, text))
    }
  }
  if (/^\s*[[{]/.test(value)) visit(parseJson(value)?.value)
  return { texts, fields }
}

/** As JSON has a text: also with slashes escaped, as PHP does it, and all but ASCII, as Python does. */
function * jsonForms (value: string): Generator<string> {
  const plain = JSON.stringify(value).slice(1, -1)
  yield plain
  yield plain.replaceAll('/', '\\/')
  const ascii = plain.replace(/[^\x20-\x7e]+/g, escapeUnits)
  yield ascii
  yield ascii.replaceAll('/', '\\/')
}

function escapeUnits (units: string): string {
  return Buffer.from(units, 'utf16le').swap16().toString('hex').replace(/..../g, '\\u$&')
}

/** As JSON has a text that may stand in HTML, by the libraries of Go, Java (Gson), .NET and PHP. Who reads JSON first needs none. */
export function htmlSafeForms (value: string): string[] {
  const [plain = '', , ascii = '', slashed = ''] = jsonForms(value)
  const small = (found: string): string => escapeUnits(found.slice(-1))
  const large = (found: string): string => inLargeDigits(small(found))
  return [
    plain.replace(/[<>&]/g, small), plain.replace(/[<>&=']/g, small),
    inLargeDigits(ascii).replace(/\\"|[<>&'+`]/g, large), slashed.replace(/\\"|[<>&']/g, large)
  ]
}

function inLargeDigits (text: string): string {
  return text.replace(/\\u[0-9a-f]{4}/g, unit => `\\u${unit.slice(2).toUpperCase()}`)
}

/** As a URL, or a form, has a text: libraries leave other characters as they are, and write small digits or large ones. */
function * urlForms (value: string): Generator<string> {
  if (/\p{Surrogate}/u.test(value)) return
  const usual = encodeURIComponent(value)
  const strict = usual.replace(/[!'()*]/g, character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
  for (const form of new Set([usual, strict, strict.replaceAll('%2F', '/'), strict.replaceAll('%20', '+')])) {
    yield form
    yield form.replace(/(?:%..)+/g, octets => octets.toLowerCase())
  }
}

/** The whole, and what is the same wherever the text begins in a longer one; in both alphabets. */
function base64Forms (value: string): string[] {
  const bytes = Buffer.from(value)
  const inside = [0, 1, 2].map(before => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64').replace(/=+$/, '')
    // A character stands for six bits: those that hold bits of what is before or behind may be others.
    return text.slice(Math.ceil(before * 8 / 6), Math.floor((before + bytes.length) * 8 / 6))
  })
  const whole = bytes.toString('base64')
  const lines = lineLengths.filter(length => whole.length > length).flatMap(length => whole.match(new RegExp(`.{1,${length}}`, 'g')) ?? [])
  return [...[whole, ...inside].flatMap(text => [text, text.replaceAll('+', '-').replaceAll('/', '_')]), ...lines]
}
