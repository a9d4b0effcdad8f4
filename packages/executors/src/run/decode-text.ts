import { orElse } from '@toolyard/contract/terms'
import { Buffer, isUtf8 } from 'node:buffer'
import { TextDecoder } from 'node:util'
import { decodePrefix } from './utf8.ts'

export const jsonType = /^application\/(?:[\w.+-]+\+)?json\b/i

/** Types whose texts may say themselves in which charset they are. */
const markupType = /^(?:text|application)\/(?:html|(?:[\w.+-]+\+)?xml)\b/i
/** Bytes in which browsers look for that. */
const declaringBytes = 1_024

/**
 * Decodes a body by the mark at its beginning, the charset of its content type, or what a page or XML says of itself; UTF-8 when there
 * is none or an unknown one. Broken parts become U+FFFD. JSON is UTF-8 whatever its charset says, where it can be: servers in Java name
 * ISO-8859-1 for both.
 */
export function decodeText (bytes: Uint8Array, contentType: string): string {
  const charset = marked(bytes) ?? (jsonType.test(contentType) && mayBeJson(bytes) ? 'utf-8' : undefined) ??
    /charset="?([\w.:-]+)/i.exec(contentType)?.[1] ?? (markupType.test(contentType) ? declared(bytes) : undefined) ?? 'utf-8'
  return decoder(charset).decode(bytes)
}

/** UTF-16 can't be what it says: it was read as ASCII. */
function declared ({ buffer, byteOffset, length }: Uint8Array): string | undefined {
  const head = Buffer.from(buffer, byteOffset, Math.min(length, declaringBytes)).toString('latin1')
  const charset = /^<\?xml\s[^>]*?encoding\s*=\s*["']([\w.:-]+)/.exec(head)?.[1] ?? /<meta\s[^>]*?charset\s*=\s*["']?\s*([\w.:-]+)/i.exec(head)?.[1]
  return charset !== undefined && /^utf-?16/i.test(charset) ? 'utf-8' : charset
}

/** In UTF-8, perhaps cut at the end. UTF-16 has a NUL beside each ASCII character. */
function mayBeJson ({ buffer, byteOffset, length }: Uint8Array): boolean {
  const bytes = Buffer.from(buffer, byteOffset, length)
  return !bytes.includes(0) && isUtf8(bytes.subarray(0, decodePrefix(bytes).bytes))
}

/** The byte order mark of UTF-16. That of UTF-8 says nothing new. */
function marked ([first, second]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined
}

function decoder (charset: string): TextDecoder {
  return orElse(() => new TextDecoder(charset), new TextDecoder())
}
