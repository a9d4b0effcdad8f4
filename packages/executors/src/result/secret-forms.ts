import { isRecord, numberText } from '@toolyard/contract/terms'
import { parseJson } from '../run/json.ts'
import { fieldForm, leastHidden } from './hidden-texts.ts'

/** UTF-16 units of a text in a secret document that is hidden wherever it stands. A shorter one may be an ordinary name. */
const leastAlone = 16

/** Of base64 that comes line by line, as PEM and MIME have it. */
const lineLengths = [64, 76]

/**
 * Every text that would give a secret away: as it is, without the white space around it, line by line, as JSON and a URL have
 * it, and as base64 has it, also in the midst of another text. Of a document in JSON, such as the key of a service account, each
 * long text, and each field with its text. The longest first.
 *
 * @param values the secrets.
 * @param sent texts with a secret in them, such as headers as they were sent.
 */
export function secretForms (values: Iterable<string>, sent: readonly string[]): string[] {
  // The output loses the white space around it, and comes line by line.
  const documents = [...values].map(readDocument)
  const wholes = [...values, ...documents.flatMap(({ texts }) => texts)].flatMap(value => [value, value.trim()])
  const lines = wholes.flatMap(value => value.split(/[\r\n]+/)).map(line => line.trim())
  const forms = [...new Set([...wholes, ...lines])].flatMap(value => [value, ...jsonForms(value), ...urlForms(value)])
  const encoded = [...sent, ...wholes].flatMap(base64Forms)
  const fields = documents.flatMap(document => document.fields)
  const all = new Set([...sent, ...forms, ...encoded, ...fields])
  return [...all].filter(text => text.length >= leastHidden).sort((a, b) => b.length - a.length)
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
function jsonForms (value: string): string[] {
  const plain = JSON.stringify(value).slice(1, -1)
  const ascii = plain.replace(/[^\x20-\x7e]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return [plain, plain.replaceAll('/', '\\/'), ascii, ascii.replaceAll('/', '\\/')]
}

/** As a URL, or a form, has a text: libraries leave other characters as they are, and write small digits or large ones. */
function urlForms (value: string): string[] {
  if (/\p{Surrogate}/u.test(value)) return [value]
  const usual = encodeURIComponent(value)
  const strict = usual.replace(/[!'()*]/g, character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
  const forms = [usual, strict, strict.replaceAll('%2F', '/'), strict.replaceAll('%20', '+')]
  return [...forms, ...forms.map(form => form.replace(/%../g, octet => octet.toLowerCase()))]
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
