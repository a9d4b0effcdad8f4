/**
 * Reads JSON that a process of Toolyard has stored in Redis. The check stands beside the writer.
 *
 * @param what names the record in the error
 * @param read `readJson` for what must keep its digits
 * @throws Error where something else is stored
 */
export function readStored<Stored> (what: string, text: string, fits: (value: unknown) => value is Stored, read = JSON.parse): Stored {
  const value: unknown = read(text)
  if (!fits(value)) throw new Error(`Redis holds something else than ${what}`)
  return value
}

export function isTexts (value: unknown): value is string[] {
  return Array.isArray(value) && value.every(item => typeof item === 'string')
}

export function isNumbers (value: unknown): value is number[] {
  return Array.isArray(value) && value.every(item => typeof item === 'number')
}
