/** The bytes of a file from `start` up to `end`, that one among them. */
export interface ByteRange {
  start: number
  end: number
}

/**
 * Reads a `Range` header. One that isn't understood is left out, as is one of several ranges: the whole file is the answer.
 *
 * @returns undefined for the whole file, `none` when it has no such bytes.
 */
export function readRange (header: string | undefined, size: number): ByteRange | 'none' | undefined {
  const [, from = '', to = ''] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? '') ?? []
  if (from === '' && to === '') return undefined
  if (from === '') return Number(to) === 0 || size === 0 ? 'none' : { start: Math.max(0, size - Number(to)), end: size - 1 }
  if (to !== '' && Number(to) < Number(from)) return undefined
  if (Number(from) >= size) return 'none'
  return { start: Number(from), end: to === '' ? size - 1 : Math.min(Number(to), size - 1) }
}
