import { randomBytes } from 'node:crypto'
import type { HeaderSecret } from '../run/header-secret.ts'

const placeholders = /tyd_placeholder_[0-9a-f]{32}/g
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
