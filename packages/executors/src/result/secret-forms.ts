import { leastHidden } from './hidden-texts.ts'

/**
 * Every text that would give a secret away: as it is, without the white space around it, line by line, as JSON and a URL have
 * it, and as base64 has it, also in the midst of another text. The longest first.
 *
 * @param values the secrets.
 * @param sent texts with a secret in them, such as headers as they were sent.
 */
export function secretForms (values: Iterable<string>, sent: readonly string[]): string[] {
  // What is printed loses the white space around it, and comes line by line.
  const wholes = [...values].flatMap(value => [value, value.trim()])
  const lines = wholes.flatMap(value => value.split(/[\r\n]+/)).map(line => line.trim())
  const forms = [...new Set([...wholes, ...lines])].flatMap(value => [value, ...jsonForms(value), formOf(value)])
  const encoded = [...sent, ...wholes].flatMap(base64Forms)
  return [...new Set([...sent, ...forms, ...encoded])].filter(text => text.length >= leastHidden).sort((a, b) => b.length - a.length)
}

/** As JSON has a text: also with slashes escaped, as PHP does it, and all but ASCII, as Python does. */
function jsonForms (value: string): string[] {
  const plain = JSON.stringify(value).slice(1, -1)
  const ascii = plain.replace(/[^\x20-\x7e]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return [plain, plain.replaceAll('/', '\\/'), ascii, ascii.replaceAll('/', '\\/')]
}

function formOf (value: string): string {
  const hasLoneSurrogate = /\p{Surrogate}/u.test(value)
  return hasLoneSurrogate ? value : encodeURIComponent(value)
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
  return [whole, ...inside].flatMap(text => [text, text.replaceAll('+', '-').replaceAll('/', '_')])
}
