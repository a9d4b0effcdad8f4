/** Decodes a buffer that was cut at its end: a sequence that the cut left incomplete is dropped, not replaced. */
export function decodePrefix (bytes: Buffer): { text: string, bytes: number } {
  const end = completeLength(bytes)
  return { text: bytes.toString('utf8', 0, end), bytes: end }
}

/** The last `maxChars` UTF-16 units of a text, less one when the cut would split a surrogate pair. */
export function lastChars (text: string, maxChars: number): string {
  return text.slice(-maxChars).replace(/^[\udc00-\udfff]/, '')
}

/** Decodes a buffer that was cut at its start: what is left of a sequence there is dropped, not replaced. */
export function decodeSuffix (bytes: Buffer): string {
  let start = 0
  while (start < Math.min(3, bytes.length) && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++
  return bytes.toString('utf8', start)
}

function completeLength (bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) break
    if (byte >= 0xc0) return back < sequenceLength(byte) ? bytes.length - back : bytes.length
  }
  return bytes.length
}

function sequenceLength (lead: number): number {
  if (lead >= 0xf0) return 4
  return lead >= 0xe0 ? 3 : 2
}
