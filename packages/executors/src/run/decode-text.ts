import { orElse } from '@toolyard/contract/terms'
import { Buffer, isUtf8 } from 'node:buffer'
import { TextDecoder } from 'node:util'
import { decodePrefix } from './utf8.ts'

export const jsonType = /^application\/(?:[\w.+-]+\+)?json\b/i

/**
 * Decodes a body by the mark at its beginning, or the charset of its content type; UTF-8 when there is none or an unknown one. Broken
 * parts become U+FFFD. JSON is UTF-8 whatever its charset says, where it can be: servers in Java name ISO-8859-1 for both.
 */
export function decodeText (bytes: Uint8Array, contentType: string): string {
  const charset = marked(bytes) ?? (jsonType.test(contentType) && mayBeJson(bytes) ? 'utf-8' : undefined) ?? /charset="?([\w.:-]+)/i.exec(contentType)?.[1] ?? 'utf-8'
  return decoder(charset).decode(bytes)
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
