import { randomBytes } from 'node:crypto'
import { Transform } from 'node:stream'
import { byteForms, starred, starStream } from '../result/hidden-bytes.ts'
import { sentForms } from '../result/secret-forms.ts'
import type { HeaderSecret } from '../run/header-secret.ts'
import type { InTurn } from './connector.ts'

const placeholders = /tyd_placeholder_[0-9a-f]{32}/g
/** Of a request with values in it. Servers refuse longer ones, and a placeholder may stand there hundreds of times. */
export const mostHeaderChars = 65_536
const basic = /^(basic +)([A-Za-z0-9+/]+={0,2})$/i

export function makePlaceholder (): string {
  return `tyd_placeholder_${randomBytes(16).toString('hex')}`
}

/**
 * Puts values in the place of their placeholders, in the values of headers alone, also in the user and password of Basic
 * authorization. What holds none of these placeholders stays as it was written.
 *
 * @param headers names and values in turn.
 */
export function withValues (headers: readonly string[], secrets: ReadonlyArray<Pick<HeaderSecret, 'placeholder' | 'value'>>): string[] {
  const values = new Map(secrets.map(({ placeholder, value }) => [placeholder, value]))
  // In one pass: what a value holds is no placeholder.
  const put = (text: string): string => text.replace(placeholders, found => values.get(found) ?? found)
  return headers.map((text, index) => index % 2 === 0 ? text : headers[index - 1]?.toLowerCase() === 'authorization' ? withCredentials(text, put) : put(text))
}

function withCredentials (text: string, put: (text: string) => string): string {
  const [, scheme = '', encoded] = basic.exec(text) ?? []
  if (encoded === undefined) return put(text)
  const decoded = Buffer.from(encoded, 'base64').toString('utf8')
  const whole = put(decoded)
  return whole === decoded ? text : `${scheme}${Buffer.from(whole).toString('base64')}`
}

/** Where something may stand in pieces, or compressed, a mask doesn't see it: the host is asked for all of it, as it is. */
export function askingWhole (headers: readonly string[]): string[] {
  const asking = new Set(['accept-encoding', 'range', 'if-range'])
  return [...headers.filter((_, index) => !asking.has(headers[index - index % 2]?.toLowerCase() ?? '')), 'accept-encoding', 'identity']
}

/** Hides values in the answer of a host, which may repeat what it was sent. */
interface Mask {
  /** @param headers names and values in turn. */
  headers (headers: readonly string[]): string[]
  /** Hides them in what is written to it, of which it holds back what stands behind the last line break. */
  body (): Transform
}

/**
 * Puts stars in the place of values, as many as these had letters: all lengths stay as they were.
 *
 * @param sent headers with values in them
 */
export function createMask (secrets: ReadonlyArray<Pick<HeaderSecret, 'forms'>>, sent: readonly string[]): Mask {
  const credentials = sent.flatMap(text => basic.exec(text)?.[2] ?? [])
  const lists = [...secrets.map(({ forms }) => forms), byteForms(sentForms(credentials))]
  return {
    headers: headers => headers.map(text => starred(text, lists)),
    body: () => starStream(lists)
  }
}

/** Of answers that are looked through: bytes that a turn of the event loop bears, and the part of it that a piece takes at least. */
const pieces = { ofTurn: 65_536, leastPart: 1 / 64 }

/** Lets the pieces of an answer pass when they may be looked through. */
export function lookedAtInTurns (inTurn: InTurn = async () => {}): Transform {
  return new Transform({
    transform (piece: Buffer, _encoding, done) {
      inTurn(Math.max(pieces.leastPart, piece.length / pieces.ofTurn)).then(() => { done(null, piece) }, done)
    }
  })
}
