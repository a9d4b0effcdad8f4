import { TextDecoder } from 'node:util'

/** Decodes a body by the charset of its content type, UTF-8 when there is none or an unknown one; broken parts become U+FFFD. */
export function decodeText (bytes: Uint8Array, contentType: string): string {
  const charset = /charset="?([\w.:-]+)/i.exec(contentType)?.[1] ?? 'utf-8'
  return decoder(charset).decode(bytes)
}

function decoder (charset: string): TextDecoder {
  try {
    return new TextDecoder(charset)
  } catch {
    return new TextDecoder()
  }
}
