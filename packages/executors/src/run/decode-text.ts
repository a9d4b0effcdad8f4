import { orElse } from '@toolyard/contract/terms'
import { TextDecoder } from 'node:util'

/**
 * Decodes a body by the mark at its beginning, or the charset of its content type; UTF-8 when there is none or an unknown one. Broken
 * parts become U+FFFD.
 */
export function decodeText (bytes: Uint8Array, contentType: string): string {
  const charset = marked(bytes) ?? /charset="?([\w.:-]+)/i.exec(contentType)?.[1] ?? 'utf-8'
  return decoder(charset).decode(bytes)
}

/** The byte order mark of UTF-16. That of UTF-8 says nothing new. */
function marked ([first, second]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined
}

function decoder (charset: string): TextDecoder {
  return orElse(() => new TextDecoder(charset), new TextDecoder())
}
